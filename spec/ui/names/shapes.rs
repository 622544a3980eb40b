const BLOCK: i32 = 64;
const SHAPE: [i32; 2] = [BLOCK, 2 * BLOCK];
fn good<const B: i32, const S: [i32; 2]>(
    a: Tile<f32, {[2 * B, BLOCK / 2]}>,
    f: Tile<f32, {[B / 2, (B + 3) % 4]}>,
    b: Tile<f32, {[S[0], S[1]]}>,
    c: Tile<f32, SHAPE>,
    d: &Tensor<f32, {[-1; 3]}>,
    e: Tile<f32, {[]}>,
) -> Tile<f32, S> {
    b
}
fn negative(x: &Tensor<f32, {[-2]}>) {}
fn too_deep(x: &Tensor<f32, {[1; 7]}>) {}
fn scalar_shape<const B: i32>(x: Tile<f32, B>) {}
fn number(x: Tile<f32, 128>) {}
fn divided<const B: i32, const C: i32>(x: Tile<f32, {[B / C]}>) {}
fn by_zero<const B: i32>(x: Tile<f32, {[B / 0]}>) {}
fn beyond<const S: [i32; 2]>(x: Tile<f32, {[S[2]]}>) {}
fn zero(x: [f32; 4 / 0]) {}
fn huge(x: [f32; 99999999999999999999]) {}
const A: i32 = C;
const C: i32 = A;
fn cyclic(x: Tile<f32, {[A]}>) {}
type Own = Own;
fn cyclic_alias(x: Own) {}
fn ranks<const S: [i32; 2]>(x: Tile<f32, S>) {}
fn rank_of_generic() {
    let t: Tile<f32, {[4]}> = constant(0.0, shape![4]);
    ranks::<{[4]}>(t);
}
