#[tile]
fn two<const A: i32, const B: i32>(z: &mut Tensor<f32, {[A]}>, y: &mut Tensor<f32, {[B]}>) {
    let _ = z.load();
    let _ = y.load();
}
//@ call two(part f32 [64] tile [16], part f32 [64] tile [32])
//@ call two{grid = 7}(part f32 [64] tile [16], part f32 [64] tile [16])
//@ call two{block = 128}(part f32 [64] tile [16], part f32 [64] tile [16])

#[tile]
fn read(x: &Tensor<f32, {[-1]}>) { let _ = x.shape(); }
//@ call read(tensor f32 [64])

#[tile]
fn deep<const S: [i32; 4]>(z: &mut Tensor<f32, S>) { let _ = z.load(); }
//@ call deep(part f32 [2, 2, 2, 4] tile [1, 1, 1, 2])

#[kernel]
fn scan(x: &[f32], n: u32) { let _ = x[n as usize]; }
//@ call scan(tensor f32 [64], 3)

#[kernel]
#[launch_bounds(128)]
fn bounded(mut c: DisjointSlice<f32>) {
    if let Some(o) = c.get_mut(thread::index_1d()) { *o = 1.0; }
}
//@ call bounded{block = 256}(tensor f32 [64])
//@ call bounded{block = 16 16}(tensor f32 [64])

#[kernel]
#[launch_contract(domain = 1, block = (256, 1, 1))]
fn contracted(mut c: DisjointSlice<f32>) {
    if let Some(o) = c.get_mut(thread::index_1d()) { *o = 1.0; }
}
//@ call contracted{block = 128}(tensor f32 [64])
//@ call contracted{grid = 2 2}(tensor f32 [64])
