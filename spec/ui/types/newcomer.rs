// What is written for the first time.
#[kernel]
fn witness(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let v = x[i];
    if let Some(out) = y.get_mut(i) { *out = v; }
}
#[tile]
fn no_shape(x: &Tensor<f32>, y: &mut Tensor<f32>) {
    y.store(x.load_like(y));
}
#[tile]
fn no_const<B: i32>(x: &Tensor<f32, {[-1]}>, y: &mut Tensor<f32, {[B]}>) {
    y.store(x.load_like(y) + y.load());
}
#[tile]
fn names<const N: i32>(z: &mut Tensor<f32, {[1, N]}>, x: &Tensor<f32, {[-1, -1]}>) {
    let t = x.load_like(z);
    let e = exp(t - max(t));
    z.store(e / sum(e));
}
