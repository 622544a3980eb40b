fn f(o: Option<i32>) -> i32 {
    match o {
        Some => 1,
        None => 0,
    }
}
