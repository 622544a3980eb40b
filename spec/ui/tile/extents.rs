// Extents that no tile has, seen before any launch.
#[tile]
fn dynamic(x: &Tensor<f32, {[-1]}>) {
    let _t = x.load();
}
#[tile]
fn nothing() {
    let t = constant(0.0f32, shape![4, 0]);
    let _u = t + t;
}
#[tile]
fn any<const N: i32>() {
    let _t = constant(0.0f32, shape![N, 4]);
}
#[kernel]
fn letter(_c: char) {}
