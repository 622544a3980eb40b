// What a tile kernel may take and give.
#[tile]
fn pointer(p: *mut f32) {}
#[tile]
fn gives(n: i32) -> i32 { n }
#[kernel]
fn tensor(x: &Tensor<f32, {[4]}>) {}
#[kernel]
fn thread_gives(x: &[f32]) -> f32 { x[0] }
#[tile]
fn generic<T>(z: &mut Tensor<T, {[4]}>) {}
#[tile]
fn unknown(z: &mut Tensor<f33, {[4]}>) {}
