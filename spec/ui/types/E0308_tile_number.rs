#[tile]
fn f(x: &Tensor<f32, {[-1]}>, z: &mut Tensor<f32, {[64]}>) {
    let v = x.load_like(z);
    let a = max(v, 0.0);
    let b = max_tile(v, 0.0);
    let c = v.exp();
    if v > 0.0 {
        z.store(v);
    }
    z.store(1.0);
}

#[kernel]
fn g(x: &[f32], mut y: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(o) = y.get_mut(idx) {
        *o = sin(x[i]);
    }
}
