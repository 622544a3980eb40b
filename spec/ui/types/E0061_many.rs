fn g(a: i32) -> i32 { a }
fn f() -> i32 {
    g(1, 2.0)
}
