#[tile]
fn f(x: &Tensor<f32, {[-1]}>, z: &mut Tensor<f32, {[64]}>) {
    let v = x.load_like(z);
    let b = max_tile(v, constant(0.0, v.shape()));
    let c = exp(v);
    z.store(select(v > 0.0, b, c));
    z.store(constant(1.0, z.shape()));
}

#[kernel]
fn g(x: &[f32], n: u32, mut y: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    let m: u32 = i as u32;
    let s = i + n as usize;
    let p = n as f32 * x[i];
    let q: i32 = (x[i] + 1.0) as i32;
    if i < n as usize {}
    if let Some(o) = y.get_mut(idx) {
        *o = x[i].sin();
    }
}
