// Pointers: where they may stand, what they need.
#[tile]
fn a(x: *mut f32) {}
#[tile]
fn b(x: &Tensor<i64, {[-1]}>) {
    let p: PointerTile<*mut f32, {[]}> = int_to_ptr(scalar_to_tile(0i64));
    let (t, k) = load_ptr_tko(p, ordering::Weak, None::<scope::TileBlock>, None, None, None, Latency::<0>);
}
#[tile]
unsafe fn c(x: *mut f32, i: *mut i32) {
    let p = pointer_to_tile(x);
    let u = atomic_rmw_tko(p, scalar_to_tile(1i32), atomic::Add, ordering::Relaxed, scope::Device, None, None);
    let v = atomic_rmw_tko(p, scalar_to_tile(1.0f32), ordering::Relaxed, ordering::Relaxed, scope::Device, None, None);
    let w = load_ptr_tko(p, ordering::Weak, scope::TileBlock, None, None, None, Latency::<0>);
    let y = p.offset_tile(scalar_to_tile(1.0f32));
    let z = load_ptr_tko(p, ordering::Weak, None::<scope::TileBlock>, None, Some(1i32), None, Latency::<0>);
}
// What a constant pointer points at is read only, and the addresses of a tensor are constant.
#[tile]
unsafe fn d(z: &mut Tensor<f32, {[4]}>, x: *const f32) {
    let p = pointer_to_tile(x);
    let (t, k) = load_ptr_tko(p, ordering::Weak, None::<scope::TileBlock>, None, None, None, Latency::<0>);
    let s = store_ptr_tko(p, t, ordering::Weak, None::<scope::TileBlock>, None, None, Latency::<0>);
    let q: *mut f32 = z.as_ptr();
    let n = pointer_to_tile(3);
    z.set_token(t);
    let r: i32 = z.store(z.load());
}
#[tile]
fn e(z: &mut Tensor<f32, {[4]}>) {
    z.set_token(z.token());
    let p = z.as_ptr();
}
