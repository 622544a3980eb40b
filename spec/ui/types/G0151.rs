#[tile]
fn f(z: &mut Tensor<f32, {[4]}>) {
    let a = z.load().reshape(const_shape![3]);
}
