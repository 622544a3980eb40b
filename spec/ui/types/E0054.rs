fn f(n: i32) -> bool {
    n as bool
}
