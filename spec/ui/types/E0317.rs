fn f(c: bool) {
    let x = if c { 1 };
}
