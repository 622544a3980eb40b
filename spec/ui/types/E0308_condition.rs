fn f(n: i32) {
    if n { }
}
