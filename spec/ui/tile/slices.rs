// Slices: the axis, and the extents that stay known.
#[tile]
fn a(x: &Tensor<f32, {[-1, 16]}>, n: i32) {
    let t = x.slice(n, 0, 4);
    let u = x.slice(2, 0, 4);
    let v: &Tensor<f32, {[-1, -1]}> = x.slice(0, 0, 4);
    let w: &Tensor<f32, {[-1, 16]}> = x.slice(0, n, n + 4);
    let y = x.slice(0, 0.5, 4);
}
// The block's own tile is no tensor that has slices.
#[tile]
fn own(z: &mut Tensor<f32, {[16, 16]}>) {
    let t = z.slice(0, 0, 4);
}
fn helper(z: &mut Tensor<f32, {[16, 16]}>) { z.slice(0, 0, 4); }
