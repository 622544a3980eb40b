// Schedules, indices and bounds by type.
#[tile]
fn a<const M: [i32; 2]>(mut z: MappedPartitionMut<f32, {[4, 4]}, M>, w: MappedPartitionMut<f32, {[4, 4]}, M>, y: MappedPartitionMut<f32, {[4, 2]}, M>) {
    let t = constant(0.0f32, shape![4, 4]);
    for i in z.iter_indices() {
        let (m, n, k) = i.components();
        let [p] = i.coords();
        z.store(t, [m, n]);
        z.store(constant(0.0f32, shape![4, 2]), i);
        w.store(t, i);
    }
    for i in z.iter_indices_with(&y) {}
    for i in z.iter_indices_within([(0, 1)]) {}
    for i in z {}
    let u = z;
    let v = z.iter_indices();
}
#[tile]
fn b(x: &Tensor<f32, {[-1, -1]}>) {
    let m = Dim::new(4);
    let p = x.partition(shape![4, 4]).with_bounds((m, m, m));
    let q = x.partition(shape![4, 4]).with_bounds((m, 1.5));
    let r = x.partition(shape![4, 4]).with_bounds((m, 4));
    let s = r.load([0, 0]);
    let t = r.load(coord((0, 1, 2)));
}
