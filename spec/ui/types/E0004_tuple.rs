fn f(a: bool, b: bool) -> i32 {
    match (a, b) {
        (true, _) => 1,
        (_, true) => 2,
    }
}
