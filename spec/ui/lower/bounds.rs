// Bounded partitions: the bounds are the counts of tiles, coordinates come from loops over them.
#[tile]
fn many(z: &mut Tensor<f32, {[1, 16]}>) {
    let mut p = z.partition_mut(shape![1, 8]).with_bounds((Dim::new(9), Dim::new(2)));
    for j in Dim::new(2) { p.store(constant(0.0f32, shape![1, 8]), coord((0, j))); }
}
//@ call many(part f32 [4, 16] tile [1, 16])

#[tile]
fn swapped(x: &Tensor<f32, {[-1, -1]}>) {
    let (m, n) = (Dim::new(x.shape()[0] / 8), Dim::new(x.shape()[1] / 8));
    let p = x.partition(shape![8, 8]).with_bounds((m, n));
    for i in m { for j in n { let t = p.load(coord((j, i))); } }
}
//@ call swapped{grid = 1}(tensor f32 [16, 16])

#[tile]
fn constant_beyond(z: &mut Tensor<f32, {[1, 16]}>) {
    let mut p = z.partition_mut(shape![1, 8]).with_bounds((Dim::new(1), Dim::new(2)));
    p.store(constant(0.0f32, shape![1, 8]), coord((0, 2)));
}
//@ call constant_beyond(part f32 [4, 16] tile [1, 16])

#[tile]
fn number(x: &Tensor<f32, {[-1, -1]}>, i: i32) {
    let (m, n) = (num_tiles(&x.partition(shape![8, 8]), 0), num_tiles(&x.partition(shape![8, 8]), 1));
    let p = x.partition(shape![8, 8]).with_bounds((m, n));
    for j in n.into_dim() { let t = p.load(coord((i, j))); }
}
//@ call number{grid = 1}(tensor f32 [16, 16], 1)
