#[kernel]
fn f(c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    if let Some(x) = c.get_mut(idx) { *x = 0.0; }
}
