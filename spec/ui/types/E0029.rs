fn f(b: bool) -> i32 {
    match b { false..=true => 1 }
}
