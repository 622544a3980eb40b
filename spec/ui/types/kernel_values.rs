// What the functions of a kernel may take and a launch cannot pass.
struct Pair { a: f32, n: u32 }
#[kernel]
fn structure(p: Pair, mut z: DisjointSlice<f32>) {}
#[kernel]
fn borrowed(p: &Pair, mut z: DisjointSlice<f32>) {}
#[kernel]
fn tuple(p: (f32, u32), mut z: DisjointSlice<f32>) {}
#[kernel]
fn array(p: [f32; 4], mut z: DisjointSlice<f32>) {}
#[kernel]
fn borrowed_array(p: &[f32; 4], mut z: DisjointSlice<f32>) {}
#[kernel]
fn option(p: Option<f32>, mut z: DisjointSlice<f32>) {}
#[kernel]
fn function<F: Fn(f32) -> f32>(f: F, mut z: DisjointSlice<f32>) {}
#[kernel]
fn unit(p: (), mut z: DisjointSlice<f32>) {}
#[tile]
fn tile_structure(p: Pair, z: &mut Tensor<f32, {[4]}>) {}
#[kernel]
fn number<T: Copy>(p: T, mut z: DisjointSlice<T>) {}
fn helper(p: Pair, q: (f32, u32), r: [f32; 4]) -> f32 { p.a + q.0 + r[0] }
