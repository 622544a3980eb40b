fn f(a: &[f32], i: i32) -> f32 {
    a[i]
}
