#[kernal]
fn misspelt() {}
#[kernel]
#[cluster_launch(2)]
fn cluster() {}
#[kernel(launch_context = lc)]
fn context() {}
#[kernel]
fn returns() -> f32 { 1.0 }
#[tile]
#[kernel]
fn two_tracks() {}
#[kernel]
struct S;
impl S {
    #[kernel]
    fn method() {}
}
#[kernel]
#[launch_bounds]
fn no_bounds() {}
#[kernel]
#[launch_bounds(2048)]
fn large() {}
#[tile]
#[launch_bounds(256)]
fn threads_of_tile() {}
#[kernel]
#[launch_bounds(128)]
#[launch_contract(domain = 1, block = (256, 1, 1))]
fn disagree() {}
#[kernel]
#[launch_contract(block = (256, 1))]
fn pairs() {}
#[cutile::entry(unchecked_accesses = true)]
fn safe() {}
#[cutile::entry(preconditions = (dim(x, 0) == dim(y, 0)))]
fn conditions(x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {}
#[lang = "Tile"]
struct Mine;
fn part(#[inline] x: i32, #[odd] y: i32) {
    #[unroll]
    while x < y {}
}
#[cutile::entry(print_ir = false, optimization_hints = (sm_90 = (occupancy = 2,),))]
#[allow(dead_code)]
/// Documented.
fn good() {}
#[cuda_tile::variadic_impl(N = 6)]
fn of_no_trait() {}
#[cutile::entry(dump_mlir_dir = 3)]
fn dumped() {}
