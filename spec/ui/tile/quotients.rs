// Extents that are quotients: one shape where they are one polynomial, asked of the instance else.
fn half<const N: i32>(t: Tile<f32, {[N]}>) -> Tile<f32, {[N / 2]}> {
    extract(t, [scalar_to_tile(0i32)])
}
fn twice<const N: i32>(t: Tile<f32, {[N / 2]}>) -> Tile<f32, {[2 * (N / 2)]}> {
    cat(t, t, 0)
}
#[tile]
fn good<const B: i32>(z: &mut Tensor<f32, {[B]}>) {
    let t: Tile<f32, {[B / 4]}> = half::<{ B / 2 }>(half::<B>(z.load()));
    let same: Tile<f32, {[(2 * B) / 8]}> = t;
    let parts: Tile<f32, {[B / 4 + B / 4]}> = cat(t, same, 0);
    let rest: Tile<f32, {[B % 4 + 1]}> = constant(0.0f32, shape![B - 4 * (B / 4) + 1]);
    z.store(twice::<B>(half::<B>(z.load())));
}
#[tile]
fn wrong<const B: i32>(z: &mut Tensor<f32, {[B]}>) {
    let a: Tile<f32, {[B / 2 + 1]}> = half::<B>(z.load());
}
fn unknown() {
    let b: Tile<f32, {[64]}> = constant(0.0f32, shape![64]);
    let c = twice(b);
}
