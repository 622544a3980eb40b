fn f(x: f32) -> f32 {
    x * 2
}
