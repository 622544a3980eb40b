#[tile]
fn large<const B: i32>(z: &mut Tensor<f32, {[B]}>) { let t = z.load(); z.store(t); }
//@ call large(part f32 [64] tile [2097152])

#[tile]
fn empty<const B: i32>(z: &mut Tensor<f32, {[B]}>) { let t = z.load(); z.store(t); }
//@ call empty(part f32 [64] tile [0])

#[tile]
fn axis(n: i32) { let _ = program_id(n); let _ = program_id(3); }
//@ call axis{grid = 1}(1)

#[tile]
fn same<const A: i32, const B: i32>(z: &mut Tensor<f32, {[A]}>, y: &mut Tensor<f32, {[B]}>) { z.store(y.load()); }
//@ call same(part f32 [64] tile [16], part f32 [128] tile [32])

#[tile]
fn extent<const N: i32>() { let t = constant(0.0f32, shape![N]); let _u = t + 1.0; let _v = exp(t); }
//@ call extent{grid = 1, N = 0}()
//@ call extent{grid = 1, N = -1}()

#[tile]
fn product<const B: i32>(z: &mut Tensor<f32, {[64, 64]}>, x: &Tensor<bf16, {[-1, -1]}>, y: &Tensor<bf16, {[-1, -1]}>) {
    let (px, py) = (x.partition(shape![64, B]), y.partition(shape![B, 64]));
    z.store(mma(px.load([0, 0]), py.load([0, 0]), constant(0.0f32, shape![64, 64])));
}
//@ call product{B = 0}(part f32 [64, 64] tile [64, 64], tensor bf16 [64, 64], tensor bf16 [64, 64])
//@ call product{B = 1048576}(part f32 [64, 64] tile [64, 64], tensor bf16 [64, 64], tensor bf16 [64, 64])

#[tile]
fn column<const A: i32, const B: i32>(z: &mut Tensor<f32, {[A, B]}>) { z.store(constant(1.0f32, shape![A, 1])); }
//@ call column(part f32 [64, 8] tile [16, 8])
