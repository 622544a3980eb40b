#[kernel]
fn f(mut c: DisjointSlice<f32>) {
    c[0] = 1.0;
}
