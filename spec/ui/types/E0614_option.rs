#[kernel]
fn fill(mut y: DisjointSlice<f32>) {
    let o = y.get_mut(thread::index_1d());
    *o = 1.0;
}
