fn g(a: i32, b: f32) -> f32 { b }
fn f() -> f32 {
    g(1)
}
