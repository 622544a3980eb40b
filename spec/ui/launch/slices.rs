#[kernel]
fn f(x: &[f32], mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(o) = c.get_mut(idx) { *o = x[i]; }
}
//@ call f(tensor f32 [8, 8] stride [1, 8], tensor f32 [64])
//@ call f(tensor f32 [8] stride [2], tensor f32 [8])
//@ call f(part f32 [8] tile [8], tensor f32 [8])
//@ call f(tensor f64 [8], tensor f32 [8])
//@ call f(1.0, tensor f32 [8])
