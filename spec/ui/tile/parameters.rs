// Parameters: what a launch can give a tile kernel, and what it cannot.
#[tile]
fn a(x: Tensor<f32, {[4]}>) {}
#[tile]
fn b<const M: [i32; 1]>(z: &mut MappedPartitionMut<f32, {[4]}, M>) {}
#[tile]
fn c(x: &i32) {}
#[tile]
fn d(x: Tile<f32, {[4]}>) {}
struct Foo { a: i32 }
#[tile]
unsafe fn e(x: *mut Foo) {}
#[tile]
fn f(x: String) {}
type Vec4 = Tensor<f32, {[4]}>;
#[tile]
fn g(x: &mut Vec4) { x.store(x.load()); }
#[tile]
fn h(x: &Partition<f32, {[4]}>) {}
#[tile]
fn i(x: Foo) {}
#[tile]
fn j(x: (i32, i32)) {}
#[tile]
fn l(x: &[f32]) {}
