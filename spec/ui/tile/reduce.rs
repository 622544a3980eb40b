// Axes and result shapes of reductions and scans.
#[tile]
fn a(n: i32) {
    let t = constant(0.0f32, shape![4, 8]);
    let u = reduce_sum(t, n);
    let v = reduce_max(t, 2);
    let w: Tile<f32, {[8]}> = reduce_sum(t, 1);
    let x: Tile<f32, {[1]}> = reduce_sum(t, 1);
    let y = scan_sum(t, 2i32, reverse::Forward, 0.0f32);
    let z = reduce(t, 0, 0.0f32, |acc, x| acc + n);
}
#[tile]
fn b() {
    let t = constant(0.0f32, shape![4]);
    let u = reduce(t, 0, 0.0f32, |x| x);
    let v = scan_sum(t, 0i32, ftz::Enabled, 0.0f32);
    let w = reduce(t, 0, 0, |acc, x| acc + x);
}
