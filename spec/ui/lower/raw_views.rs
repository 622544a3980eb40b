// The tile that is a block's own is of one tensor: no branch decides which.
#[tile]
fn own<const B: i32>(z: &mut Tensor<f32, {[B]}>, y: &mut Tensor<f32, {[B]}>, n: i32) {
    let r = if n > 4 { z } else { y };
    r.store(r.load() + 1.0);
    let mut m = r.partition_mut(shape![2]);
    m.store(constant(0.0f32, shape![2]), [0]);
}
#[tile]
fn address<const B: i32>(z: &mut Tensor<f32, {[B]}>, y: &mut Tensor<f32, {[B]}>, n: i32) {
    let r = if n > 4 { z } else { y };
    let p = r.as_ptr();
}
#[tile]
fn slice<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>, n: i32) {
    let t = if n > 4 { x } else { y };
    z.store(t.slice(0, 1, n).load_tile(shape![B], [0]));
}
//@ call own(part f32 [8] tile [4], part f32 [8] tile [4], 8)
//@ call address(part f32 [8] tile [4], part f32 [8] tile [4], 8)
//@ call slice(part f32 [8] tile [4], tensor f32 [8], tensor f32 [8], 8)
