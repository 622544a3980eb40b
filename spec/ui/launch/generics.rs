#[tile]
fn fill<T: FloatElement, const B: i32, const N: i32>(z: &mut Tensor<T, {[B]}>, v: T) {
    let _ = N;
    z.store(constant(v, shape![B]));
}

//@ call fill(part f32 [64] tile [16], 1.0)
//@ call fill{N = 1, C = 2}(part f32 [64] tile [16], 1.0)
//@ call fill{N = 1, B = 32}(part f32 [64] tile [16], 1.0)
//@ call fill{N = 1, T = "f16"}(part f32 [64] tile [16], 1.0)
//@ call fill{N = 1, T = "f23"}(part f32 [64] tile [16], 1.0)
//@ call fill{N = 1, T = 3}(part f32 [64] tile [16], 1.0)
//@ call fill{N = "x"}(part f32 [64] tile [16], 1.0)
//@ call fill{N = 3000000000}(part f32 [64] tile [16], 1.0)
//@ call fill{N = 1}(part i32 [64] tile [16], 1)

#[tile]
fn both<const B: i32>(z: &mut Tensor<f32, {[B]}>, y: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[2 * B]}>) {
    let _ = x;
    z.store(y.load());
}
// two partitions, two values of B; an extent that is not 2 * B
//@ call both(part f32 [64] tile [16], part f32 [64] tile [32], tensor f32 [32])
//@ call both(part f32 [64] tile [16], part f32 [64] tile [16], tensor f32 [16])

// a number times a generic decides it where nothing else does
#[tile]
fn pairs<const D: i32>(z: &mut Tensor<f32, {[1, 2 * D]}>, x: &Tensor<f32, {[-1, 2 * D]}>) {
    z.store(x.load_like(z));
}
//@ call pairs(part f32 [4, 64] tile [1, 64], tensor f32 [4, 64])
//@ call pairs(part f32 [4, 63] tile [1, 63], tensor f32 [4, 63])
//@ call pairs(part f32 [4, 64] tile [1, 64], tensor f32 [4, 32])
//@ call pairs{D = 16}(part f32 [4, 64] tile [1, 64], tensor f32 [4, 64])
