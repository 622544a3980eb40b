// Indices that are out of bounds whatever the launch; those that a branch may keep out are checked in the kernel.
#[tile]
fn beyond<const N: i32, const B: i32>(z: &mut Tensor<f32, {[1, N]}>, x: &Tensor<f32, {[4, N]}>) {
    let mut p = z.partition_mut(shape![1, B]);
    let q = x.partition(shape![1, B]);
    for j in 0..N / B {
        p.store(q.load([4, j]), [1, j]);
    }
    p.store(q.load([0, 0 - 1]), [0, N / B]);
}
//@ call beyond{B = 16}(part f32 [4, 64] tile [1, 64], tensor f32 [4, 64])

#[tile]
fn starts_below<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
    let p = x.partition(shape![B]);
    for j in -2..4 {
        z.store(p.load([j]));
    }
}
//@ call starts_below(part f32 [64] tile [16], tensor f32 [64])

#[tile]
fn kept_out<const N: i32, const B: i32>(z: &mut Tensor<f32, {[N]}>) {
    let mut p = z.partition_mut(shape![B]);
    if N > B {
        p.store(constant(0.0f32, shape![B]), [1]);
    }
    for j in -1..1 {
        if j >= 0 {
            p.store(constant(1.0f32, shape![B]), [j]);
        }
    }
}
//@ call kept_out{B = 16}(part f32 [64] tile [16])
