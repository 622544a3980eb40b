// And what stands for it, as lists.rs is told.
struct V { x: f32, y: f32 }
impl V { fn set(&mut self) { self.x = 1.0; } }
fn list(x: &[f32]) -> f32 { x[0] }
#[kernel]
fn arguments(x: &[f32], n: usize, mut z: DisjointSlice<f32>) {
    let mut a = [1.0f32, 2.0, 0.0];
    let v = V { x: list(&a), y: 2.0 };
    for i in 0..x.len() {}
    for i in (0..x.len()).step_by(n) {}
    for i in 1..x.len() {}
    for i in 0..=n {}
    let ends = (x[0], x.get(0), x[x.len() - 1]);
    let (i, j) = (0, 1);
    (a[i], a[j]) = (a[j], a[i]);
}
#[tile]
fn tensors(z: &mut Tensor<f32, {[4]}>, x: &Tensor<f32, {[-1]}>) {
    let n = x.shape()[0];
    z.store(floor(z.load() + 0.5));
}
