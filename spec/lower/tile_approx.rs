// tanh's modes: one that may be near, and one that says what there is without.
#[tile]
fn modes(z: &mut Tensor<f32, {[8]}>, x: &Tensor<f32, {[-1]}>) {
    let a = x.load_like(z);
    let near = tanh(a, rounding::Approx);
    let full = tanh(a, rounding::Full);
    z.store(tanh(near + full));
}
//@ call modes(part f32 [64] tile [8], tensor f32 [64])
// CHECK: %near = tanh_approx %a : tile<8 x f32>
// CHECK: %full = tanh %a : tile<8 x f32>
// CHECK: tanh %{{[0-9]+}} : tile<8 x f32>
