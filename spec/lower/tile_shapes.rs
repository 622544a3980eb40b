// Reductions, scans, permutations, joined tiles, parts, matrix products.
#[tile]
fn sums<const M: i32, const N: i32>(z: &mut Tensor<f32, {[M]}>, x: &Tensor<f32, {[-1, -1]}>) {
    let t = x.load_tile(shape![M, N], [get_tile_block_id().0, 0]);
    let m = reduce_max(t, 1);
    let s: Tile<f32, {[M]}> = reduce_sum(exp(t - m.reshape(shape![M, 1]).broadcast(shape![M, N])), 1i32);
    let q = reduce(t, 1, 0.0, |a, x| a + x * x);
    z.store(s + q);
}
//@ call sums{N = 4}(part f32 [8] tile [4], tensor f32 [8, 4])
// CHECK: fn @sums
// CHECK: %m = reduce[1] %t, %{{[0-9]+}} : tile<4 x f32> (%[[A:[0-9]+]]: f32, %[[X:[0-9]+]]: f32) {
// CHECK-NEXT: max %[[A]], %[[X]] : f32
// CHECK: %s = reduce[1]
// CHECK: %q = reduce[1]
// CHECK: fma

#[tile]
fn quirk<const N: i32>(z: &mut Tensor<f32, {[1]}>, x: &Tensor<f32, {[-1]}>) {
    let t = x.load_tile(shape![N], [get_tile_block_id().0]);
    let s: Tile<f32, {[1]}> = reduce_prod(t, 0);
    let u = s.reshape(const_shape![]);
    let p = scan_sum(t, 0, reverse::Reverse, 0.0);
    let q: Tile<f32, {[N]}> = scan(p, 0i32, reverse::Forward, 1.0f32, |a, x| { let y = a * x; y });
    let w = reduce(q, 0i32, f32::NEG_INFINITY, |acc, x| max(acc, x));
    z.store(w.reshape(shape![1]) + u.reshape(shape![1]));
}
//@ call quirk{N = 4}(part f32 [1] tile [1], tensor f32 [4])
// CHECK: fn @quirk
// CHECK: reduce[0] %t, %{{[0-9]+}} : tile<f32>
// CHECK: %s = reshape %{{[0-9]+}} : tile<1 x f32>
// CHECK: %p = scan[0, reverse] %t
// CHECK: %q = scan[0] %p

#[tile]
fn shapes<const M: i32, const N: i32>(z: &mut Tensor<f32, {[M, N]}>, x: &Tensor<f32, {[-1, -1]}>) {
    let t = x.load_tile(shape![M, N], [0, 0]);
    let perm: Array<{ [1, 0] }> = const_array![1, 0];
    let other: Array<{ [1, 0] }> = Array::<{ [1, 0] }> { dims: &[1i32, 0i32] };
    let u = permute(permute(t, perm), other);
    let v: Tile<f32, {[N, M]}> = permute(u, const_array![1, 0]);
    let c = cat(t, v.transpose(), 1);
    let zero = scalar_to_tile(0i32);
    let e: Tile<f32, {[M, N]}> = extract(c, [zero, scalar_to_tile(1)]);
    let n = get_shape_dim(x.shape(), 1i32);
    let s = get_tensor_shape(x);
    let d: [i32; 2] = permute_array([n, s[0]], const_array![1, 0]);
    let acc = mma(e, v, constant(0.0f32, shape![M, M]));
    z.store(e + reduce_sum(acc, 1).reshape(shape![M, 1]).broadcast(shape![M, N]));
}
//@ call shapes(part f32 [4, 8] tile [4, 8], tensor f32 [4, 8])
// CHECK: fn @shapes
// CHECK: permute[1 0] %t : tile<8 x 4 x f32>
// CHECK: %v = permute[1 0] %u : tile<8 x 4 x f32>
// CHECK: %c = cat[1] %t, %{{[0-9]+}} : tile<4 x 16 x f32>
// CHECK: extract_tile %c, %{{[0-9]+}}, %{{[0-9]+}} : tile<4 x 8 x f32>
// CHECK: %n = dim[1] %x
// CHECK: %acc = mma %e, %v, %{{[0-9]+}} : tile<4 x 4 x f32>
