// Statements and expressions that tile code has not, or uses wrongly.
#[tile]
fn a(z: &mut Tensor<f32, {[4]}>, n: i32) {
    let x: i32;
    let t = z.load();
    let u = if n > 0 { t };
    let v = if n > 0 { t } else { constant(0.0f32, shape![8]) };
    t = t + t;
    let w = t[0];
    t[0] = 1.0;
    let b = t && t;
    if lt_tile(t, t) { return; }
    while t { }
    for i in t { }
    for i in 0..1.5 { }
    let c = |a, b| a + b;
    let d = t as f64;
    let e = n as bool;
    let f = !t;
    let g = cuda_tile_assert!(t, "x");
    let h = t.nothing();
    let i = nothing(t);
    let j = nothing!(t);
    let k = "text" + t;
    let l = [t, n];
    break;
    let m = (t, n).2;
    let o = helper(t)?;
    let q = &t[1..2];
    let r = 5000000000;
    let s = t + 1;
    let y = t + n;
}
fn helper(t: Tile<f32, {[4]}>) -> Tile<f32, {[4]}> { helper(t) }
