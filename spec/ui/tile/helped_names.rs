// What newcomers write. Each is helped with a change, and spec/cli/helps_spec.lua makes them all.
#[tile]
fn borrows<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
    let p = x.partition(shape![B]);
    let mut sum = constant(0.0, shape![B]);
    for i in 0..num_tiles(p, 0) {
        sum += p.load([i]);
    }
    for i in 0..p.num_tiles(0) {
        sum += p.load([i]);
    }
    z.store(&sum);
}
#[tile]
fn rows<const M: i32, const N: i32>(z: &mut Tensor<f32, {[M, N]}>) {
    let t = z.load();
    let a = exp(t - reduce_max(t, 1));
    let b = t / reduce_sum(t, 1);
    let total: Tile<f32, {[]}> = reduce_sum(reduce_sum(t, 1), 0);
    let c = t * total;
    z.store(a);
}
#[tile]
fn undeclared(z: &mut Tensor<f32, {[B]}>) { z.store(z.load()); }
#[tile]
fn undeclared_beside<T: ElementType>(z: &mut Tensor<T, {[B]}>) { z.store(z.load()); }
#[tile]
fn of_a_type<B>(z: &mut Tensor<f32, {[B]}>) { z.store(z.load()); }
fn squared<const B: i32>(t: Tile<f32, {[B]}>) { t * t }
fn bounded<T: ElementType, const B: i32>(t: Tile<T, {[B]}>) -> Tile<T, {[B]}> { exp(t) }
#[tile]
fn counts<const B: i32>(z: &mut Tensor<f32, {[B]}>, n: i32) {
    for i in n { z.store(constant(i as f32, shape![B])); }
    let done = True;
    let x: float32 = 1.0;
    if done { z.store(constant(x, shape![B])); }
}
#[kernel]
fn witness(mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    if let Some(out) = c.get_mut(idx.get()) { *out = 1.0; }
}
