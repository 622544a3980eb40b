fn f() -> f32 {
    let x = 2.0.sqrt();
    x
}
