// Tile kernels. Expected IR below each.
#[tile]
fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
    let tx = x.load_like(z);
    let ty = y.load_like(z);
    z.store(tx + ty);
}
//@ call add(part f32 [1000] tile [128], tensor f32 [1000] at 4, tensor f32 [1000] stride [2])
// CHECK: fn @add tile, symbol "add_128_
// CHECK: %z: tensor<? x f32> base 0 written unique aligned16 unit_stride small
// CHECK: %x: tensor<? x f32> base 1 unique unit_stride small
// CHECK: %y: tensor<? x f32> base 2 unique aligned16 small
// CHECK: %tx = load_tile %x, %{{[0-9]+}} : tile<128 x f32>
// CHECK: %[[S:[0-9]+]] = add %tx, %ty
// CHECK: store_tile %z, %[[S]], %
// CHECK-NEXT: return

// Static extents are part of the type; dimensions of the rest are read.
//@ call dims(part f32 [8, 8] tile [4, 4], tensor f32 [8, 12])
#[tile]
fn dims<const S: [i32; 2]>(z: &mut Tensor<f32, S>, x: &Tensor<f32, {[8, -1]}>) {
    let p = x.partition(shape![4, 4]);
    let n = num_tiles(&p, 1);
    let mut acc = constant(0.0f32, shape![4, 4]);
    for k in 0..n { acc = acc + p.load([get_tile_block_id().0, k]); }
    let t = reshape(broadcast(reshape(iota::<i32, {[4]}>(shape![4]), shape![1, 4]), shape![4, 4]), shape![4, 4]);
    z.store(acc * convert_tile::<f32>(t) + 1.0);
}
// CHECK-LABEL: fn @dims
// CHECK: %x: tensor<8 x ? x f32>
// CHECK: site tile 0 "p.load([get_tile_block_id().0, k])"
// CHECK: site tile 1
// CHECK: dim[1] %x : i32
// CHECK: = for %{{.*}}tile<4 x 4 x f32>
// CHECK: check_index[site 0]
// CHECK: check_index[site 1]
// CHECK: and %
// CHECK: load_tile %x, %{{[0-9]+}}, %k, %{{[0-9]+}} : tile<4 x 4 x f32>
// CHECK: iota : tile<4 x i32>
// CHECK: reshape %{{.*}}tile<1 x 4 x i32>
// CHECK: broadcast %{{.*}}tile<4 x 4 x i32>

// A branch on a scalar carries tiles.
//@ call branch(part f16 [64] tile [16], 1)
#[tile]
fn branch<T: FloatElement, const B: i32>(z: &mut Tensor<T, {[B]}>, n: i32) {
    let t = z.load();
    let r = if n > 0 { t + t } else { t * t };
    z.store(r);
}
// CHECK-LABEL: fn @branch
// CHECK: %r = if %{{.*}}tile<16 x f16> {
