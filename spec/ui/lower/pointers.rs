// Accesses that only an instance can refuse.
#[tile]
unsafe fn ordering_of_load(x: *mut f32) {
    let p = pointer_to_tile(x);
    let t = load_ptr_tko(p, ordering::Release, None::<scope::TileBlock>, None, None, None, Latency::<0>);
}
//@ call ordering_of_load{grid = 1}(tensor f32 [8])
#[tile]
unsafe fn weak_update(x: *mut f32) {
    let p = pointer_to_tile(x);
    let t = atomic_rmw_tko(p, scalar_to_tile(1.0f32), atomic::AddF, ordering::Weak, scope::Device, None, None);
}
//@ call weak_update{grid = 1}(tensor f32 [8])
#[tile]
unsafe fn greatest(x: *mut f32) {
    let p = pointer_to_tile(x);
    let t = atomic_rmw_tko(p, scalar_to_tile(1.0f32), atomic::Max, ordering::Relaxed, scope::Device, None, None);
}
//@ call greatest{grid = 1}(tensor f32 [8])
#[tile]
unsafe fn narrow(x: *mut i8) {
    let p = pointer_to_tile(x);
    let t = atomic_rmw_tko(p, scalar_to_tile(1i8), atomic::Add, ordering::Relaxed, scope::Device, None, None);
}
//@ call narrow{grid = 1}(tensor i8 [8])
#[tile]
unsafe fn shapes(x: *mut i8) {
    let p = pointer_to_tile(x).reshape(shape![2]);
}
//@ call shapes{grid = 1}(tensor i8 [8])
#[tile]
unsafe fn elements(x: *mut i8) {}
//@ call elements{grid = 1}(tensor f32 [8])
#[tile]
unsafe fn strides(x: *mut f32) {}
//@ call strides{grid = 1}(tensor f32 [8] stride [2])
