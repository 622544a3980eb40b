fn g(x: &f32) -> f32 { *x }
fn f(x: f32) -> f32 {
    g(x)
}
