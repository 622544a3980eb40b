fn f(o: Option<i32>) -> i32 {
    match o {
        None(n) => n,
        Some(n) => n,
    }
}
