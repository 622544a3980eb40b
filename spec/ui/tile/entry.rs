// What the entry attribute takes.
#[cutile::entry(print_ir = false, dump_mlir_dir = "x", optimization_hints = (sm_90 = (occupancy = 2, num_cta_in_cga = 1,), sm_120 = (num_worker_warps_per_cta = 4,)))]
fn fine(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(optimization_hints = (sm_90 = (occupancy = 2, occupancy = 3)))]
fn twice(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(optimization_hints = (sm_90 = (latency = 2)))]
fn of_load(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(optimization_hints = (sm_90 = (num_worker_warps_per_cta = 3)))]
fn power(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(optimization_hints = (gfx90 = (occupancy = 2)))]
fn target(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(optimization_hints = (sm_90 = (occupants = 2)))]
fn hint(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(optimization_hints = 3)]
fn number(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(preconditions = dim(x, 0) < 4)]
fn less(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(preconditions = (len(x) == dim(x, 0), dim(y, 0) == dim(x, 0), dim(x, 0) % 0 == 0, dim(x, 0) % 4 == 1))]
fn terms(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(preconditions = (dim(x, 1) == dim(x, 0), dim(n, 0) % 4 == 0))]
fn axes(x: &Tensor<f32, {[-1]}>, n: i32) {}
#[cutile::entry(deny_in_kernel_checks = 1, tensor_dim_factor = 16, use_debug_mlir = "x")]
fn others(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(unchecked_accesses = true)]
fn safe(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(preconditions = dim(x, -1) == dim(x, 0))]
fn k(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(preconditions = (3 == dim(x, 0), dim(x.y, 0) == dim(x, 0), dim(x) == 1))]
fn l(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(print_ir = 3)]
fn o(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(optimization_hints = (sm_90 = (num_cta_in_cga = 3, max_divisibility = 7, occupancy = 0, allow_tma = true)))]
fn p(x: &Tensor<f32, {[-1]}>) {}
#[cutile::entry(num_ctas = 2)]
fn q(x: &Tensor<f32, {[-1]}>) {}
