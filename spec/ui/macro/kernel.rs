// Kernels, attributes and shapes written by macros.
macro_rules! binary { ($($name:ident: $op:tt),* $(,)?) => { $(
    #[tile]
    fn $name<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
        let tx = x.load_like(z);
        let ty = y.load_like(z);
        z.store(tx $op ty);
    }
)* }; }
binary! { add: +, sub: -, mul: * }
macro_rules! clamp { ($x:expr, $lo:expr, $hi:expr) => {{ let v = $x; if v < $lo { $lo } else if v > $hi { $hi } else { v } }}; }
#[kernel]
fn clamped(a: &[f32], mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(out) = c.get_mut(idx) { *out = clamp!(a[i] * 2.0, 0.0, 1.0); }
}
