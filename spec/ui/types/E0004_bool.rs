fn f(b: bool) -> i32 {
    match b { true => 1 }
}
