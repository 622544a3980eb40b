// Partitions and their tiles.
#[tile]
fn a(z: &mut Tensor<f32, {[4, 8]}>, x: &Tensor<f32, {[-1, -1]}>) {
    let p = x.partition(shape![4]);
    let q = x.partition(shape![4, 4]);
    let t = q.load([0]);
    let u = q.load([0, 0, 0]);
    let v = x.load_tile(shape![4, 4], [0]);
    let mut m = z.partition_mut(shape![2, 2]);
    m.store(constant(0.0f32, shape![2, 2]), [0, 1, 2]);
    m.store(constant(0.0f32, shape![4, 2]), [0, 1]);
    m.store_unchecked(constant(0.0f32, shape![2, 2]), [0, 1]);
    let f = z.partition_full_mut(shape![2, 2]);
    let w = load_view_tko(&q, [0, 0], scope::Device, scope::TileBlock, None, tma::Enabled);
    let n = x.shape()[2];
}
#[tile]
fn b(z: &mut Tensor<f32, {[4, 8]}>) {
    let m = z.partition_mut(shape![2, 2]);
    m.store(constant(0.0f32, shape![2, 2]), [0, 1]);
}
#[tile]
fn c(z: &mut Tensor<f32, {[4, 8]}>, n: i32) {
    let p = z.partition_mut(shape![4]);
    let q = z.partition_mut(shape![n, 8]);
    let r = z.partition_mut(shape![4, 8, 1]);
}
