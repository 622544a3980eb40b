fn f(a: &[f32], i: usize) {
    a[i] = 1.0;
}
