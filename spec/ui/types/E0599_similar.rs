#[tile]
fn copy(x: &Tensor<f32, {[-1]}>, z: &mut Tensor<f32, {[64]}>) {
    let t = x.load_lik(z);
    z.store(t);
}

#[kernel]
fn scale(x: &[f32], mut y: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let n = x.length();
    let i = idx.gett();
}

struct S;
impl S {
    fn get(&self) {}
}
fn g(s: S) {
    s.gett();
}
