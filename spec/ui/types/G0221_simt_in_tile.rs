#[tile]
fn f<const B: i32>(z: &mut Tensor<f32, {[B]}>) {
    let i = thread::threadIdx_x();
}
