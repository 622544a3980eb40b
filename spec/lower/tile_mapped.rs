// Mapped partitions, bounds, windows and denied checks.
#[cutile::entry(deny_in_kernel_checks = true, preconditions = (dim(x, 1) == dim(y, 0), dim(x, 1) % 8 == 0))]
fn product<const MAP: [i32; 2]>(mut z: MappedPartitionMut<f32, {[8, 8]}, MAP>, x: &Tensor<f32, {[-1, -1]}>, y: &Tensor<f32, {[-1, -1]}>) {
    let px = x.partition(shape![8, 8]);
    let py = y.partition(shape![8, 8]);
    for index in z.iter_indices() {
        let (m, n) = index.components();
        let mut sum = constant(0.0f32, shape![8, 8]);
        for i in 0..num_tiles(&px, 1) { sum = mma(px.load([m, i]), py.load([i, n]), sum); }
        z.store(sum, index);
    }
}
//@ call product(part f32 [16, 16] tile [8, 8] map [2, 1] 3, tensor f32 [16, 24], tensor f32 [24, 16])
// The extents that the precondition makes equal are one; a multiple needs no rounding up.
// CHECK: fn @product
// CHECK-NOT: dim[0] %y
// CHECK: %[[K:[0-9]+]] = dim[1] %x
// CHECK: for %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}
// CHECK: %m = below %{{[0-9]+}}, %[[M:[0-9]+]]
// CHECK: %n = below
// CHECK: %[[TRUE:[0-9]+]] = const[true]
// CHECK: store_tile %z, %{{[0-9]+}}, %m, %n{{ *$}}
#[tile]
fn nested(z: &mut Tensor<i32, {[3, -1]}>) {
    let mut p = z.partition_mut(shape![2, 4]);
    for j in 0..num_tiles(&p, 1) { p.store(constant(1i32, shape![2, 4]), [0, j]); }
}
//@ call nested(part i32 [9, 24] tile [3, 6])
// CHECK: fn @nested
// CHECK: %[[W:[0-9]+]] = window %z, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : tensor<? x ? x i32>
// CHECK: store_tile %[[W]]
#[tile]
fn whole(x: &Tensor<f32, {[-1, -1]}>) {
    let (m, n) = (Dim::new(x.shape()[0] / 8), Dim::new(x.shape()[1] / 8));
    let p = x.partition(shape![8, 8]).with_bounds((m, n));
    for i in m { for j in n { let t = p.load(coord((i, j))); } }
}
//@ call whole{grid = 1}(tensor f32 [16, 16])
// CHECK: fn @whole
// CHECK: site require 0 "the number of tiles on axis 0, as `with_bounds` gives it,"
// CHECK: assert[site 0]
// CHECK: load_tile %x, %i, %j : tile
