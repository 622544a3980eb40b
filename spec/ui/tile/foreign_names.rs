// And what was meant, as foreign.rs is told.
#[tile]
fn functions<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, n: i32) {
    let t = z.load();
    let shape = t.shape();
    let relu = max_tile(t, constant(0.0, t.shape()));
    let sigmoid = 1.0 / (1.0 + exp(-t));
    let (zeros, ones, full) = (constant(0.0, shape![B]), constant(1.0, shape![B]), constant(3.5, shape![B]));
    let arange: Tile<f32, {[B]}> = convert_tile::<f32>(iota::<i32>(shape![B]));
    let maximum = max_tile(t, ones);
    let cumsum = scan_sum(t, 0, reverse::Forward, 0.0);
    let float = n as f32;
    let half = convert_tile::<f16>(t);
    let item = tile_to_scalar(reduce_sum(t, 0));
    let abs = absf(t);
    let clamp = min_tile(max_tile(t, constant(0.0, t.shape())), constant(1.0, t.shape()));
    let power = pow(t, constant(2.0, t.shape()));
    let both = (t > 0.0) & (t < 1.0) | (t == 5.0);
    let chosen = select(both, t, zeros);
    let extent = x.shape()[0];
    let like = x.load_like(z);
    let tile = x.load_tile(shape![B], [program_id(0)]);
    for i in 0..n {}
    let numbers = (2.0f32.powf(3.0), 2.0f32.powi(3), 2.0f32.exp(), max(1.0f32, 2.0));
    let negated = !both;
    let choice = if n > 0 { t } else { like };
    z.store(relu + arange + chosen + choice + tile);
}
#[tile]
fn products<const M: i32, const K: i32>(z: &mut Tensor<f32, {[M, M]}>, x: &Tensor<f32, {[M, K]}>, y: &Tensor<f32, {[K, M]}>) {
    let (a, b) = (x.load_tile(shape![M, K], [0, 0]), y.load_tile(shape![K, M], [0, 0]));
    let mean = reduce_sum(a, 1) / (K as f32);
    let joined: Tile<f32, {[2 * M, K]}> = cat(a, a, 0);
    z.store(mma(a, b, constant(0.0, shape![M, M])));
}
#[kernel]
fn threads(x: &[f32], mut c: DisjointSlice<f32>) {
    let place = (thread::threadIdx_x(), thread::blockIdx_x(), thread::blockDim_x());
    let idx = thread::index_1d();
    let n = x.len();
    if let Some(out) = c.get_mut(idx) { *out = 0.0; }
}
