// What newcomers write. Each is helped with a change, and spec/cli/helps_spec.lua makes them all.
#[tile]
fn methods<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
    let t = x.load_like(z);
    let a = t.max(0.0);
    let b = max(t, 0.0);
    let c = max(t, 0);
    let d = t.exp();
    let e = t as f16;
    z.store(a + b + c + d);
}
#[tile]
fn operators<const B: i32>(z: &mut Tensor<f32, {[B]}>, n: i32, s: f64) {
    let t = z.load();
    let a = t + 1;
    let b = 2 * t;
    let c = t * n;
    let d = t * s;
    let e = select(t > 0.0, t, 0.0);
    z.store(a + b + c + d + e);
}
#[tile]
fn shapes<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, n: i32) {
    let p = x.partition([B]);
    let a = p.load(n);
    let b = x.load_tile(shape![B], n);
    let c = constant(1.0, B);
    let d = constant(1.0, [B]);
    z.store(a + b + c + d);
}
