// Views whose elements are reached one by one.
use cutile::tileir::*;
#[tile]
unsafe fn padded(z: &mut Tensor<i32, {[4, 8]}>, x: &Tensor<i32, {[-1, -1]}>, at: &Tensor<i32, {[-1]}>) {
    let v: GatherScatterView<i32, {[4, 8]}, 0> = make_gather_scatter_view(x, shape![4, 8], padding::Nan);
}
#[tile]
unsafe fn counted(z: &mut Tensor<f32, {[4, 8]}>, x: &Tensor<f32, {[-1, -1]}>, at: &Tensor<i32, {[-1]}>) {
    let v: GatherScatterView<f32, {[4, 8]}, 0> = make_gather_scatter_view(x, shape![4, 8], padding::None);
    let (t, _) = load_gather_scatter_view_tko(&v, at.load_tile(shape![8], [0]), 0, new_token_unordered(), ordering::Relaxed, scope::TileBlock);
}
#[tile]
unsafe fn mapped(z: &mut Tensor<f32, {[2, 4]}>, x: &Tensor<f32, {[-1, -1]}>) {
    let v: StridedView<f32, {[2, 4]}, {[1, 3]}, {[1, 1]}> = make_strided_view(x, shape![2, 4], padding::Zero);
    let (t, _) = load_strided_view_tko(&v, [0, 0], new_token_unordered(), ordering::Relaxed, scope::TileBlock);
}
#[tile]
unsafe fn ored(z: &mut Tensor<f32, {[4, 8]}>) {
    let mut p = z.partition_mut(shape![4, 8]);
    let t = atomic_red_view_tko(&mut p, constant(1.0f32, shape![4, 8]), [0, 0], atomic::Or, ordering::Relaxed, scope::Device);
}
#[tile]
unsafe fn dense(z: &mut Tensor<f32, {[4]}>, x: &Tensor<f32, {[-1]}>) {
    let v: StridedView<f32, {[4]}, {[2]}, {[0]}> = make_strided_view(x, shape![4], padding::Zero);
    let t = atomic_red_view_raw(&v, constant(1.0f32, shape![4]), (iota::<i32, {[4]}>(shape![4]),), atomic::AddF, ordering::Relaxed, scope::Device, None);
}
#[tile]
unsafe fn few(z: &mut Tensor<f32, {[4, 4]}>, x: &Tensor<f32, {[-1, -1]}>) {
    let p = x.partition(shape![4, 4]);
    let (t, _) = load_view_raw(&p, [0], None, ordering::Weak, scope::Device, tma::Disabled, None, [false], shape![4, 4]);
    z.store(t);
}
#[tile]
unsafe fn uneven(z: &mut Tensor<f32, {[8]}>) {
    z.store(insert(constant(1.0f32, shape![3]), z.load(), [scalar_to_tile(0i32)]));
}
//@ call dense(part f32 [4] tile [4], tensor f32 [8])
//@ call few(part f32 [4, 4] tile [4, 4], tensor f32 [4, 8])
//@ call uneven(part f32 [8] tile [8])
//@ call padded(part i32 [4, 8] tile [4, 8], tensor i32 [4, 8], tensor i32 [8])
//@ call counted(part f32 [4, 8] tile [4, 8], tensor f32 [4, 8], tensor i32 [8])
//@ call mapped(part f32 [2, 4] tile [2, 4], tensor f32 [4, 8])
//@ call ored(part f32 [4, 8] tile [4, 8])
