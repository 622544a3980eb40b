// Functions whose result has a shape that follows from the arguments.
#[tile]
fn a(x: &Tensor<f32, {[-1, -1]}>) {
    let t = constant(0.0f32, shape![4, 8]);
    let u = permute(t, const_array![0, 0]);
    let v = permute(t, const_array![0]);
    let w: Tile<f32, {[4, 8]}> = permute(t, const_array![1, 0]);
    let r = reduce_sum(t, 0).transpose();
    let c = cat(t, constant(0.0f32, shape![4, 4]), 0);
    let d: Tile<f32, {[4, 8]}> = cat(t, t, 1);
    let k = scalar_to_tile(0i32);
    let e: Tile<f32, {[3, 8]}> = extract(t, [k, k]);
    let n: [i32; 3] = get_tensor_shape(x);
}
#[tile]
fn b() {
    let l = constant(0.0f32, shape![4, 8]);
    let m = mma(l, l, constant(0.0f32, shape![4, 8]));
    let n = mmaf(l, l, constant(0.0f32, shape![4, 8]));
}
