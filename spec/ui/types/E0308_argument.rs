fn g(a: f32) -> f32 { a }
fn f(n: i32) -> f32 {
    g(n)
}
