#[tile]
fn f<B: i32>(z: &mut Tensor<f32, {[B]}>) {}
