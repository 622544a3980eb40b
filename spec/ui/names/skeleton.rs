// The kernels of the first examples.
#[tile]
fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
    let tx = x.load_like(z);
    let ty = y.load_like(z);
    z.store(tx + ty);
}

#[kernel]
#[launch_bounds(256)]
#[launch_contract(domain = 1, block = (256, 1, 1))]
fn vecadd(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(out) = c.get_mut(idx) {
        *out = a[i] + b[i];
    }
}

#[cutile::entry()]
fn saxpy<E: FloatElement, const S: [i32; 2]>(y: &mut Tensor<E, S>, a: E, x: &Tensor<E, {[-1, -1]}>) {
    let tile_a = a.broadcast(y.shape());
    let tx = load_tile_like(x, y);
    let ty = load_tile_mut(y);
    y.store(tile_a * tx + ty);
}
