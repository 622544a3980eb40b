// What Rust has for slices, arrays and structs beside what is here.
struct V { x: f32, y: f32 }
impl V { fn set(&self) { self.x = 1.0; } }
fn list(x: &[f32]) -> f32 { x[0] }
fn written(x: &mut [f32]) { x[0] = 1.0; }
fn one(x: &mut f32) { *x = 1.0; }
#[kernel]
fn arguments(x: &[f32], mut z: DisjointSlice<f32>) {
    let mut a = [1.0f32, 2.0];
    let mut f = 1.0f32;
    list(a);
    written(a);
    one(&f);
    let v = V(1.0, 2.0);
    let d = 2 * x[0];
    return 5;
}
#[kernel]
fn methods(x: &[f32], mut z: DisjointSlice<f32>) {
    let mut a = [1.0f32, 2.0];
    a.iter();
    for v in x.iter() {}
    x.chunks(2);
    x.windows(2);
    x.first();
    x.last();
    a.swap(0, 1);
    a.push(1.0);
}
#[tile]
fn tensors(z: &mut Tensor<f32, {[4]}>, x: &Tensor<f32, {[-1]}>) {
    let n = x.shape().0;
    let r = x.rank();
    let d = x.dim(0);
    let q = round(z.load());
    let p = z.load().round();
}
