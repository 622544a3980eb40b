#[tile]
fn f(z: &mut Tensor<f32, {[4]}>) {
    let a = z.load().broadcast(const_shape![8]);
}
