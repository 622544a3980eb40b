fn f(n: i32) {
    for i in n {}
}
