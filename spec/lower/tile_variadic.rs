// A user's trait for tiles of every rank.
use cutile::core::*;

#[cuda_tile::variadic_trait(N = 6)]
pub trait Twice<E: ElementType, const S: [i32; N]> {
    fn twice(self, times: i32) -> Tile<E, S>;
}

#[cuda_tile::variadic_trait_impl()]
#[cuda_tile::variadic_impl(N = 6)]
impl<const S: [i32; N]> Twice<f32, S> for Tile<f32, S> {
    fn twice(self, _times: i32) -> Tile<f32, S> { self + self }
}

#[cutile::entry(dump_mlir_dir = "out")]
fn both<const B: i32>(z: &mut Tensor<f32, {[B]}>, y: &mut Tensor<f32, {[1, B]}>) {
    z.store(z.load().twice(1));
    y.store(y.load().twice(1));
}
//@ assume both{B = 4}
// CHECK: add {{.*}} : tile<4 x f32>
// CHECK: add {{.*}} : tile<1 x 4 x f32>
