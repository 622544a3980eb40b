// Generic parameters: kinds, lengths, what a call gives.
#[tile]
fn float<const F: f32>(z: &mut Tensor<f32, {[4]}>) {}
#[tile]
fn wide<const N: i64>(z: &mut Tensor<f32, {[4]}>) {}
#[tile]
fn list<const S: [u32; 2]>(z: &mut Tensor<f32, {[4]}>) {}
#[tile]
fn seven<const S: [i32; 7]>(z: &mut Tensor<f32, {[4]}>) {}
fn helper<E: ElementType, const N: i32>(t: Tile<E, {[N]}>) -> Tile<E, {[N]}> { t }
#[tile]
fn counts<const S: [i32; 2]>(z: &mut Tensor<f32, {[4]}>, t: &Tensor<f32, S>) {
    let a = helper::<f32>(z.load());
    let b = helper::<f32, 8>(z.load());
    let c = helper::<4, f32>(z.load());
    let d = S[2];
    let e: Tile<f32, {[S[3], 1]}> = constant(0.0, shape![1, 1]);
    let f = convert_scalar::<f32, f32, f32>(1.0f32);
    let g = constant(zero(), shape![4]);
}
