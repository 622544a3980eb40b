// Shapes: what stands in a type and in shape!.
#[tile]
fn a<const N: i32, const S: [i32; 2]>(z: &mut Tensor<f32, {[4]}>, n: i32) {
    let a = constant(0.0f32, shape![n]);
    let b = constant(0.0f32, shape![S, 4]);
    let c = constant(0.0f32, shape![S[n]]);
    let d = constant(0.0f32, shape![-1]);
    let e: Tile<f32, {[Width]}> = z.load();
    let f: Tile<f32, {[1.5]}> = z.load();
    let g: Tile<f32, 4> = z.load();
    let h: Tile<f32, {[1, 2, 3, 4, 5, 6, 7]}> = z.load();
    let i = constant(0.0f32, shape![2 * N, N >> 1]);
    let j = const_array![n, 1];
    let k = constant(0.0f32, const_array![4]);
    let l: Tile<f32, {[-1]}> = z.load();
}
