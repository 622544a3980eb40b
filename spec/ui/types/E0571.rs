fn f(c: bool) {
    while c { break 1; }
}
