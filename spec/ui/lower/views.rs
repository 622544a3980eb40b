// Views that only an instance can refuse.
#[tile]
fn padded(z: &mut Tensor<i32, {[4]}>, x: &Tensor<i32, {[-1]}>) {
    let p = make_partition_view(x, shape![4], padding::Nan, dim_map::Identity, new_token_unordered());
    z.store(p.load([0]));
}
#[tile]
fn axes(x: &Tensor<f32, {[-1, -1]}>) {
    let n = num_tiles(&x.partition(shape![4, 4]), 2);
    let e = get_shape_dim(x.shape(), 5);
}
#[tile]
fn whole(x: &Tensor<f32, {[-1, -1]}>) { let n = num_tiles(x, 0); }
#[tile]
fn open(z: &mut Tensor<f32, {[4, 8]}>) { let p = z.partition_mut(shape![-1, 8]); }
//@ call axes{grid = 1}(tensor f32 [4, 4])
//@ call whole{grid = 1}(tensor f32 [4, 4])
//@ call open(part f32 [8, 8] tile [4, 8])
//@ call padded(part i32 [8] tile [4], tensor i32 [8])
#[tile]
fn turned(z: &mut Tensor<i32, {[4, 4]}>, x: &Tensor<i32, {[-1, -1]}>, y: &Tensor<i32, {[-1, -1]}>, n: i32) {
    let mut p = x.partition(shape![4, 4]);
    for i in 0..n { p = y.partition_permuted(shape![4, 4], const_array![1, 0]); }
    z.store(p.load([0, 0]));
}
#[tile]
fn filled(z: &mut Tensor<f32, {[4]}>, x: &Tensor<f32, {[-1]}>, n: i32) {
    let p = if n > 0 { x.partition(shape![4]) } else { make_partition_view(x, shape![4], padding::Nan, dim_map::Identity, x.token()) };
    z.store(p.load([0]));
}
struct Two<'a, const B: i32> { x: Partition<'a, f32, {[B]}>, n: i32 }
#[tile]
fn field<const B: i32>(z: &mut Tensor<f32, {[B]}>, a: &Tensor<f32, {[-1]}>, b: &Tensor<f32, {[-1]}>, n: i32) {
    let mut s: Two<B> = Two { x: a.partition(shape![B]), n: 0 };
    for i in 0..n { s = Two { x: make_partition_view(b, shape![B], padding::Nan, dim_map::Identity, b.token()), n: i }; }
    z.store(s.x.load([0]));
}
#[tile]
fn later<const B: i32>(z: &mut Tensor<f32, {[B]}>, a: &Tensor<f32, {[-1]}>, n: i32) {
    let mut o = None;
    for i in 0..n { o = Some(make_partition_view(a, shape![B], padding::Nan, dim_map::Identity, a.token())); }
    if let Some(p) = o { z.store(p.load([0])); }
}
//@ call later(part f32 [8] tile [4], tensor f32 [8], 3)
//@ call field(part f32 [8] tile [4], tensor f32 [8], tensor f32 [8], 3)
//@ call turned(part i32 [8, 8] tile [4, 4], tensor i32 [8, 8], tensor i32 [8, 8], 3)
//@ call filled(part f32 [8] tile [4], tensor f32 [8], 3)
