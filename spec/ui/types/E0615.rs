fn f(a: &[f32]) -> usize {
    a.len
}
