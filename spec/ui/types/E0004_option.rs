fn f(o: Option<bool>) -> i32 {
    match o {
        None => 0,
        Some(true) => 1,
    }
}
