#[tile]
fn f(x: &Tensor<f32, {[4]}>) {
    let t = print_tko("%f and %f\n", x.load_tile(shape![4], [0]), None);
}
//@ call f{grid = 1}(tensor f32 [4])
