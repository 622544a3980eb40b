#[tile]
fn f<const B: i32>(z: &mut Tensor<f32, {[B]}>) {
    let t = z.load();
    z.store(t * 2);
}
