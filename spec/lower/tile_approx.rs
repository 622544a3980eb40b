// Modes of tanh and exp: one that may be near, and one that says what there is without.
#[tile]
fn modes(z: &mut Tensor<f32, {[8]}>, x: &Tensor<f32, {[-1]}>) {
    let a = x.load_like(z);
    let near = tanh(a, rounding::Approx);
    let full = tanh(a, rounding::Full);
    let power = exp(near, rounding::Approx);
    let whole = exp(full, rounding::Full);
    z.store(tanh(power + whole));
}
//@ call modes(part f32 [64] tile [8], tensor f32 [64])
// CHECK: %near = tanh_approx %a : tile<8 x f32>
// CHECK: [[A:%[0-9]+]] = bitcast %a : tile<8 x u32>
// CHECK: [[B:%[0-9]+]] = bitcast [[A]] : tile<8 x f32>
// CHECK: tanh [[B]] : tile<8 x f32>
// CHECK: %full = bitcast {{.*}} : tile<8 x f32>
// CHECK: [[POWER:%[0-9]+]] = mul %near,
// CHECK: %power = exp2_flush [[POWER]] : tile<8 x f32>
// CHECK: [[FULL:%[0-9]+]] = bitcast %full : tile<8 x u32>
// CHECK: [[SAME:%[0-9]+]] = bitcast [[FULL]] : tile<8 x f32>
// CHECK: exp [[SAME]] : tile<8 x f32>
// CHECK: tanh %{{[0-9]+}} : tile<8 x f32>
