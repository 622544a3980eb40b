// What a closure takes is not known where the call is wrong, and that is told once.
#[tile]
fn f<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
    z.store(missing(x.load_like(z), |a, b| a + b));
}
#[tile]
fn g<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
    z.store(scan(x.load_like(z), 0, reverse::Forward, |a, b| a + b));
}
// Its own mistakes are.
#[tile]
fn h<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
    z.store(missing(x.load_like(z), |a, b| -> f32 { let q: i32 = true; a + b }));
}
