fn f(n: i32) -> i32 {
    match n { true => 1, _ => 0 }
}
