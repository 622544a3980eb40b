#[kernel]
fn fill(mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    if let Some(out) = c.g1et_mut(idx) {
        *out = 1.0;
    }
}
