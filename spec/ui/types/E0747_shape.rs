#[tile]
fn f<const B: i32>(z: &mut Tensor<f32, [B]>) {}
