#[tile]
fn f(z: &mut Tensor<f32, {[4]}>) {
    let a = constant(0.0f32, const_shape![1, 1, 1, 1, 1, 1, 1]);
}
