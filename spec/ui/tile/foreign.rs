// Names of other languages and libraries, and what is said of them.
#[tile]
fn functions<const B: i32>(z: &mut Tensor<f32, {[B]}>, n: i32) {
    let t = z.load();
    let a = relu(t);
    let b = zeros(shape![B]);
    let c = arange(B);
    let d = float(n);
    let e = f32(n);
    let f = tl.load(z);
    let g = math::exp(t);
    let h = load(z);
    for i in range(0, n) {}
    let i = null;
    z.store(t);
}
#[tile]
fn methods<const B: i32>(z: &mut Tensor<f32, {[B]}>) {
    let t = z.load();
    let a = t.astype(1);
    let b = t.clamp(0.0, 1.0);
    let c = t.mean(0);
    let d = t.max();
    let e = t.sum(0);
    let f = z.len();
    let g = t[0];
    z[0] = 1.0;
    let h = t ** 2.0;
    if t > 0.0 && t < 1.0 {}
    z.store(t);
}
