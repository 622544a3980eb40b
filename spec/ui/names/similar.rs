// What may stand in a name's place, and never what holds the name.
fn bound<T: Tt, const N: i32>() {}
fn own_bound<Aa: Ab>(x: Aa) {}
fn trait_for_type(x: Shapee) {}
trait Shaped {}
trait Shapes: Shapez {}
struct Pair1 { x: Pair2 }
type Row1 = Row2;
const C1: i32 = C2;
static SS: i32 = ST;
fn half(x: f32) -> f32 { halv(x) }
fn extent<const BM: i32>(z: &Tensor<f32, {[BN]}>) {}
