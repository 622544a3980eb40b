// Partitions: permuted, padded, nested, whole; checked and unchecked accesses.
#[tile]
fn views<const M: i32, const N: i32>(z: &mut Tensor<f32, {[M, N]}>, x: &Tensor<f32, {[-1, -1]}>) {
    let p = x.partition_permuted(shape![N, M], const_array![1, 0]);
    let n = num_tiles(&p, 0) + get_index_space_shape(&p)[1] + x.shape()[1];
    let t = p.load([program_id(1), program_id(0)]);
    let token: Token = get_tensor_token(x);
    let q = make_partition_view(x, shape![M, N], padding::NegInf, dim_map::Identity, token);
    let u = load_view_tko(&q, [program_id(0), n], ordering::Weak, scope::TileBlock, Some(6i32), tma::Enabled);
    let w = q.load_pipelined::<4>([program_id(0), 0]);
    let mut m = z.partition_mut(shape![M, 1]);
    for j in 0..N {
        m.store(reduce_max(t.transpose() + u + w, 1).reshape(shape![M, 1]), [0, j]);
    }
    let joined = join_tokens(&[token, new_token_unordered()]);
}
//@ call views(part f32 [4, 8] tile [4, 8], tensor f32 [4, 8])
// CHECK: fn @views
// CHECK: %[[I:[0-9]+]] = load_tile %x, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : tile<4 x 8 x f32>
// CHECK: %t = permute[1 0] %[[I]]
// CHECK: %u = load_tile[pad -inf] %x, %{{[0-9]+}}, %n : tile<4 x 8 x f32>
// CHECK: check_index[site 2]
// CHECK: %w = load_tile[pad -inf]
// CHECK: for {{.*}} (%j: i32)
// CHECK: check_index[site 5] %j
// CHECK: store_tile %z, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}
#[tile]
unsafe fn full<const S: [i32; 2]>(z: &mut Tensor<f32, S>) {
    let mut p = z.partition_full_mut(shape![4, 4]);
    let r = p.load([1, 1]);
    let _t: Token = p.store(r, [0, 1]);
    p.store_unchecked(r, [0, 1]);
    let mut q = make_partition_view_mut(z, z.shape(), padding::None, new_token_unordered());
    store_view_tko_mut(&mut q, z.load(), [program_id(0), 0], ordering::Weak, scope::TileBlock, None, tma::Disabled);
}
//@ call full(part f32 [4, 8] tile [4, 8])
// CHECK: fn @full
// CHECK: load_tile %z, {{.*}}tile<4 x 4 x f32>
// CHECK: store_tile %z, %r, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+$}}
// CHECK: store_tile %z, %r, %{{[0-9]+}}, %{{[0-9]+$}}
// CHECK: load_tile %z, {{.*}}tile<4 x 8 x f32>
