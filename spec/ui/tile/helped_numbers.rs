// What newcomers write. Each is helped with a change, and spec/cli/helps_spec.lua makes them all.
#[tile]
fn numbers<const M: i32, const N: i32>(z: &mut Tensor<f32, {[M, N]}>, x: &Tensor<f32, {[-1, -1]}>, s: f32, n: i32) {
    let t = z.load();
    let p = x.partition(M, N);
    let a = x.partition(shape![M, N]).load(0, 0);
    let b = x.partition(shape![M, N]).load((0, 0));
    let c: Tile<f32, {[N, M]}> = permute(t, [1, 0]);
    let d = sqrt(s) + sqrt(N) + exp(1.0) + ceil(n / N);
    let e = constant(n, shape![M, N]);
    println!(t, n);
    z.store(e);
}
