#[kernel]
fn f(x: &[f32], n: u32, mut y: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    let m: u32 = i;
    let l: u32 = 4usize;
    if i < n {}
    let s = i + n;
    let p = n * x[i];
    let q: i32 = x[i] + 1.0;
    if let Some(o) = y.get_mut(idx) {
        *o = n;
    }
}
