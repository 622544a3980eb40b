#[kernel]
fn fill(x: &[f32], mut y: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    if let Some(o) = y.get_mut(idx) {
        o = 1.0;
    }
}
