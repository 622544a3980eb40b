// Parameters that no launch can fill.
#[tile]
fn moved(x: Tensor<f32, {[4]}>) {}
#[tile]
fn referenced(z: &mut MappedPartitionMut<f32, {[4]}, {[1]}>) {}
#[tile]
fn number(n: &i32) {}
#[tile]
fn tile(t: Tile<f32, {[4]}>) {}
#[tile]
fn partition(p: &Partition<f32, {[4]}>) {}
#[tile]
unsafe fn pointee(p: *mut Tile<f32, {[4]}>) {}
#[tile]
fn text(s: &str) {}
#[tile]
fn pair(p: (i32, i32)) {}
#[kernel]
fn letter(c: char, n: &u32) {}
#[tile]
fn slice(s: &[f32], d: cuda_device::DisjointSlice<f32>) {}
use cutile::core::Tensor as View;
#[kernel]
fn tensor(x: &View<f32, {[4]}>) {}
