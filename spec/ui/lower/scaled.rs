// Scaled products and packed elements: types, blocks and shapes that do not go together.
#[tile]
fn scale(z: &mut Tensor<f32, {[16, 16]}>) {
    let x = constant(f8e4m3fn::ONE, shape![16, 64]);
    let y = constant(f8e4m3fn::ONE, shape![64, 16]);
    let u = constant(f8e4m3fn::ONE, shape![16, 2]);
    let v = constant(f8e4m3fn::ONE, shape![2, 16]);
    z.store(mmaf_scaled(x, y, z.load(), u, v));
}
//@ call scale(part f32 [16, 16] tile [16, 16])
#[tile]
fn block(z: &mut Tensor<f32, {[16, 16]}>) {
    let x = constant(f4e2m1fn::ONE, shape![16, 64]);
    let y = constant(f4e2m1fn::ONE, shape![64, 16]);
    let u = constant(f8e8m0fnu::ONE, shape![16, 8]);
    let v = constant(f8e8m0fnu::ONE, shape![8, 16]);
    z.store(mmaf_scaled(x, y, z.load(), u, v));
}
//@ call block(part f32 [16, 16] tile [16, 16])
#[tile]
fn shapes(z: &mut Tensor<f32, {[16, 16]}>) {
    let x = constant(f4e2m1fn::ONE, shape![16, 64]);
    let y = constant(f4e2m1fn::ONE, shape![64, 16]);
    let u = constant(f8e8m0fnu::ONE, shape![16, 4]);
    let v = constant(f8e8m0fnu::ONE, shape![2, 16]);
    z.store(mmaf_scaled(x, y, z.load(), u, v));
}
//@ call shapes(part f32 [16, 16] tile [16, 16])
#[tile]
fn halves(z: &mut Tensor<u8, {[8]}>) { let a: Tile<f4e2m1fn, {[8]}> = unpack(z.load()); }
//@ call halves(part u8 [8] tile [8])
#[tile]
fn unpacked(z: &mut Tensor<u8, {[8]}>) { let a: Tile<f32, {[4]}> = unpack(z.load()); }
//@ call unpacked(part u8 [8] tile [8])
#[tile]
fn packed(z: &mut Tensor<bool, {[8]}>) { let a: Tile<u8, {[8]}> = pack(z.load()); }
//@ call packed(part bool [8] tile [8])
#[tile]
fn least(z: &mut Tensor<f4e2m1fn, {[8]}>) { let a = min_tile(z.load(), z.load()); }
//@ call least(part f4e2m1fn [8] tile [8])
#[tile]
fn sum(z: &mut Tensor<f8e8m0fnu, {[8]}>) { let a = reduce_sum(z.load(), 0); }
//@ call sum(part f8e8m0fnu [8] tile [8])
#[tile]
fn sums(z: &mut Tensor<bool, {[8]}>) { let a = scan_sum(z.load(), 0, reverse::Forward, false); }
//@ call sums(part bool [8] tile [8])

// Two integers of four bits are one byte.
#[tile]
fn wholes(z: &mut Tensor<i4, {[8]}>) { let a: Tile<u8, {[8]}> = pack(z.load()); }
//@ call wholes(part i4 [8] tile [8])
