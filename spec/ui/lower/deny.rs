// deny_in_kernel_checks: what is left when the compiler and the launch have done theirs.
#[cutile::entry(deny_in_kernel_checks = true)]
fn index(x: &Tensor<f32, {[-1]}>, n: i32) { let t = x.partition(shape![8]).load([n]); }
//@ call index{grid = 1}(tensor f32 [64], 3)

#[cutile::entry(deny_in_kernel_checks = true)]
fn crossed(x: &Tensor<f32, {[-1]}>) { let t = x.partition(shape![8]).load([program_id(0) ^ 1]); }
//@ call crossed{grid = 1}(tensor f32 [64])

#[cutile::entry(deny_in_kernel_checks = true)]
fn bound(x: &Tensor<f32, {[-1]}>) {
    let n = Dim::new(num_programs(0));
    let p = x.partition(shape![8]).with_bounds((n,));
}
//@ call bound{grid = 1}(tensor f32 [64])

#[cutile::entry(deny_in_kernel_checks = true)]
fn range<const M: [i32; 1]>(mut z: MappedPartitionMut<f32, {[4]}, M>, n: i32) {
    for i in z.iter_indices_within([(n, -1)]) { z.store(constant(0.0f32, shape![4]), i); }
}
//@ call range(part f32 [8] tile [4] map [1] 2, 1)

#[cutile::entry(deny_in_kernel_checks = true)]
fn divided(z: &mut Tensor<i32, {[8]}>, n: i32) { z.store(z.load() / n); }
//@ call divided(part i32 [8] tile [8], 1)

// The launch knows one bound of what is clamped, and the shares of blocks.
#[cutile::entry(deny_in_kernel_checks = true)]
fn clamped(x: &Tensor<f32, {[-1]}>, n: i32) {
    let p = x.partition(shape![8]);
    for i in max(0, program_id(0) - n) / 2..min(n, num_tiles(&p, 0)) { let t = p.load([i]); }
}
//@ call clamped{grid = 1}(tensor f32 [64], 3)

#[cutile::entry(deny_in_kernel_checks = true)]
fn shares(x: &Tensor<f32, {[-1]}>) {
    let p = x.partition(shape![8]);
    let per = ceil_div(num_tiles(&p, 0), num_programs(0));
    let first = program_id(0) * per;
    for i in first..min(first + per, num_tiles(&p, 0)) { let t = p.load([i]); }
}
//@ call shares{grid = 3}(tensor f32 [64])

#[cutile::entry(deny_in_kernel_checks = true)]
fn lowered(x: &Tensor<f32, {[-1]}>, n: i32) {
    let p = x.partition(shape![8]);
    let t = p.load([min(n, num_tiles(&p, 0) - 1)]);
}
//@ call lowered{grid = 1}(tensor f32 [64], 3)
