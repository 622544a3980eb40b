// A product of matrices is no `*`.
#[tile]
fn product(z: &mut Tensor<f32, {[32, 32]}>, x: &Tensor<f32, {[-1, -1]}>, y: &Tensor<f32, {[-1, -1]}>) {
    let mut acc = constant(0.0f32, shape![32, 32]);
    acc += x.load_tile(shape![32, 16], [0, 0]) * y.load_tile(shape![16, 32], [0, 0]);
    z.store(acc);
}
