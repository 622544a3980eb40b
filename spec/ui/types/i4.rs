// Integers of four bits: a range of their own, no conversion that nobody asked for, pairs in a byte.
#[tile]
fn range(z: &mut Tensor<i4, {[8]}>) {
    z.store(constant(8, shape![8]));
    let least: i4 = -8;
    let less: i4 = -9;
}
#[tile]
fn mixed(z: &mut Tensor<i4, {[8]}>, n: i8) {
    z.store(z.load() + n);
    let wide: Tile<i8, {[8]}> = z.load();
}
#[tile]
fn accepted(z: &mut Tensor<i4, {[8]}>, n: i4) {
    let x = z.load() * n - 1;
    let y: Tile<i32, {[8]}> = convert_tile(x);
    z.store(convert_tile(y >> 1));
    let m = match n { -8..=-1 => 0, 0..=7 => 1 };
}
