fn f(a: &[f32]) -> f32 {
    let b = &a[0..2];
    b[0]
}
