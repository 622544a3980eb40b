#[kernel]
fn k(x: &[f32]) {
    k(x);
}
