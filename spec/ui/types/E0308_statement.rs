fn f(c: bool) {
    if c { 1 } else { 2 }
    return;
}
