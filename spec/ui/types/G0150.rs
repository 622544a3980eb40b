#[tile]
fn f(z: &mut Tensor<f32, {[4]}>) {
    let a = z.load();
    let b = constant(1.0f32, const_shape![8]);
    z.store(a + b);
}
