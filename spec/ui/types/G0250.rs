fn f(n: i32) -> i32 {
    if n == 0 { 1 } else { n * f(n - 1) }
}
