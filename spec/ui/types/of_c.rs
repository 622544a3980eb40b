// What CUDA C and Rust have, and what is here.
#[kernel]
fn words(x: &[f32], n: usize, mut z: DisjointSlice<f32>) {
    __syncthreads();
    let s = __shared__;
    shfl_down(1.0, 1);
    atomicAdd(z, 1.0);
    printf("%f", x[0]);
    let a = sqrtf(2.0);
    let b = fmaxf(1.0, 2.0);
    for v in x {}
    for i in 0..n.step_by(2) {}
    while q < n {}
    super::words();
}
fn add<T>(a: T, b: T) -> T { a + b }
fn less<T: Copy>(a: T, b: T) -> bool { a < b }
fn dynamic(f: &dyn Fn(f32) -> f32) -> f32 { f(1.0) }
