// Pointer tiles: gathers, scatters, atomic updates, numbers and back.
#[tile]
unsafe fn scale<T: ElementType, const B: i32>(out: *mut T, x: *mut T, n: i32) {
    let px: PointerTile<*mut T, { [] }> = pointer_to_tile(x);
    let at: Tile<i32, {[B]}> = iota(shape![B]) + (program_id(0) * B).broadcast(shape![B]);
    let px = px.reshape(shape![1]).broadcast(shape![B]).offset_tile(at);
    let po = broadcast_ptr(reshape_ptr(pointer_to_tile(out), shape![1]), shape![B]).offset_tile(at);
    let mask = lt_tile(at, n.broadcast(shape![B]));
    let (t, _): (Tile<T, {[B]}>, Token) = load_ptr_tko(px, ordering::Weak, None::<scope::TileBlock>, Some(mask), Some(T::ONE), None, Latency::<0>);
    let result = load_ptr_tko(px, ordering::Weak, None::<scope::TileBlock>, None, None, None, Latency::<0>);
    let token: Token = store_ptr_tko(po, t + result.0, ordering::Weak, None::<scope::TileBlock>, Some(mask), Some(result.1), Latency::<0>);
}
//@ call scale{B = 8, grid = 2}(tensor f32 [16], tensor f32 [16], 13)
#[tile]
unsafe fn count(bins: *mut i32, x: &Tensor<i32, {[-1]}>, n: i32) {
    let mut p = pointer_to_tile(bins);
    for i in 0..4 { p = p.offset(1); }
    p = addptr(p, -4);
    let v = x.load_tile(shape![16], [program_id(0)]);
    let (old, token) = atomic_rmw_tko(p.reshape(shape![1]).broadcast(shape![16]).offset_tile(v), constant(1i32, shape![16]), atomic::Add, ordering::Relaxed, scope::Device, None, None);
    let (prev, _) = atomic_rmw_tko(p, scalar_to_tile(7i32), atomic::Umax, ordering::AcqRel, scope::System, None, Some(token));
    let (cas, _) = atomic_cas_tko(p, prev, scalar_to_tile(7i32), ordering::Acquire, scope::Device, Some(scalar_to_tile(true)), None);
    let q: Tile<i64, {[]}> = ptr_to_int(p);
    let r: PointerTile<*mut i32, {[]}> = int_to_ptr(q);
    let s: PointerTile<*mut u8, {[]}> = ptr_to_ptr(r.offset(2));
    let b = tile_to_pointer(s);
}
//@ call count{grid = 2}(tensor i32 [16], tensor i32 [32], 13)
// What is stored to is written, by numbers too.
#[tile]
unsafe fn written<const B: i32>(a: &Tensor<f32, {[-1]}>, b: &Tensor<f32, {[-1]}>, c: &Tensor<f32, {[-1]}>, n: i32) {
    let shape: Shape<{[-1]}> = Shape::<{[-1]}> { dims: &[a.shape()[0] - n] };
    let v = make_tensor_view(get_tensor_base(b).offset(n), shape, const_array![1], new_token_unordered());
    v.partition_full_mut(shape![B]).store(a.load_tile(shape![B], [0]), [0]);
    let number: Tile<i64, {[]}> = ptr_to_int(get_tensor_base(c));
    let q: PointerTile<*mut f32, {[]}> = int_to_ptr(number + scalar_to_tile(8i64));
    let token = store_ptr_tko(q, scalar_to_tile(1.0f32), ordering::Weak, None::<scope::TileBlock>, None, None, Latency::<0>);
}
//@ call written{B = 8, grid = 1}(tensor f32 [16], tensor f32 [16], tensor f32 [16], 3)
// CHECK: fn @scale
// CHECK: %out: ptr<f32, global> base 0 written aligned16
// CHECK: %t = gather[weak, block] %x, %[[AT:[0-9]+]], %mask, %{{[0-9]+}} : tile<8 x f32>
// CHECK: %result = gather[weak, block] %x, %[[AT]], %[[ALL:[0-9]+]], %{{[0-9]+}}
// CHECK: scatter[weak, block] %out, %{{[0-9]+}}, %{{[0-9]+}}, %mask
// CHECK: fn @count
// CHECK: for {{.*}} : tile<i64> (%i: i32
// CHECK: %old = atomic_rmw[add, relaxed, device] %bins
// CHECK: atomic_rmw[max, acq_rel, system] %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : tile<u32>
// CHECK: %cas = atomic_cas[acquire, device] %bins
// CHECK: int_to_ptr %{{[0-9]+}} : ptr<i32, global>
// CHECK: %b = int_to_ptr
// CHECK: fn @written
// CHECK-NEXT: %a: tensor<? x f32> base 0 unique
// CHECK-NEXT: %b: tensor<? x f32> base 1 written unique
// CHECK-NEXT: %c: tensor<? x f32> base 2 written unique
