// Modes and element types that are refused by name.
#[tile]
fn fused<E: FloatElement>(z: &mut Tensor<E, {[4]}>) {
    let t = z.load();
    z.store(fma(t, t, t, rounding::Zero, ftz::Disabled));
}
//@ call fused(part f64 [8] tile [4])
#[tile]
fn nearest(z: &mut Tensor<f32, {[4]}>) { z.store(tanh(z.load(), rounding::NearestEven)); }
//@ call nearest(part f32 [8] tile [4])
#[tile]
fn narrow(z: &mut Tensor<i16, {[4]}>) {
    let t: Tile<i32, {[4]}> = exti(z.load());
    let u: Tile<i32, {[4]}> = trunci(z.load(), overflow::None);
    z.store(z.load());
}
//@ call narrow(part i16 [8] tile [4])
#[tile]
fn bits(z: &mut Tensor<i16, {[4]}>) {
    let t: Tile<i32, {[4]}> = bitcast(z.load());
    z.store(z.load());
}
//@ call bits(part i16 [8] tile [4])
#[tile]
fn product(z: &mut Tensor<f32, {[4, 4]}>) {
    let h: Tile<bf16, {[4, 4]}> = ftof(z.load(), rounding::NearestEven);
    let t = mma(h, h, constant(0.0f64, shape![4, 4]));
    z.store(z.load());
}
//@ call product(part f32 [4, 4] tile [4, 4])
#[tile]
fn bools(z: &mut Tensor<bool, {[4]}>) {
    let t = reduce_sum(z.load(), 0);
    z.store(z.load());
}
//@ call bools(part bool [8] tile [4])
#[tile]
fn impure(z: &mut Tensor<i32, {[4]}>) {
    let t = reduce(z.load(), 0, 1, |a, x| a / x);
    z.store(z.load());
}
//@ call impure(part i32 [8] tile [4])
#[tile]
fn away(z: &mut Tensor<f32, {[4]}>) {
    z.store(addf(z.load(), z.load(), rounding::NearestAway, ftz::Disabled));
}
//@ call away(part f32 [8] tile [4])
#[tile]
fn root(z: &mut Tensor<f32, {[4]}>) {
    z.store(sqrt(z.load(), rounding::NearestAway, ftz::Disabled));
}
//@ call root(part f32 [8] tile [4])
#[tile]
fn exact(z: &mut Tensor<f32, {[4]}>) {
    z.store(unsafe { exp_with_rounding(z.load(), rounding::NearestEven) });
}
//@ call exact(part f32 [8] tile [4])
