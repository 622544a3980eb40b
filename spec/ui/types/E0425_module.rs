#[kernel]
fn scale(mut y: DisjointSlice<f32>) {
    let idx = thread::index1d();
}

mod inner {
    pub fn index_1d() {}
}
fn g() {
    inner::index1d();
}
