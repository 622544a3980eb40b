// What launches bind to: grid, block, facts. Printed by `lower_tool --bind`.
#[tile]
fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, n: u8, f: f16) {
    let t = x.load_like(z);
    if n > 0 { z.store(t + convert_scalar::<f32>(f)); }
}
//@ call add(part f32 [1000] tile [128], tensor f32 [1000] at 4, 3, 0.1)
// CHECK: grid 8 1 1 block 1 1 1
// CHECK-NEXT: arg 0 unique f32 rank 1 aligned16 unit_stride small
// CHECK-NEXT: arg 1 shared f32 rank 1 unit_stride small
// CHECK-NEXT: arg 2 scalar u8 = 3
// CHECK-NEXT: arg 3 scalar f16 = 0.1
// CHECK-NEXT: key [[KEY:[0-9a-f]+]]

// Another number, another length, the same code.
//@ call add(part f32 [64] tile [128], tensor f32 [64] at 20, 9, 1)
// CHECK: grid 1 1 1
// CHECK: key [[KEY]]

// Another tile, another code. No blocks for no elements.
//@ call add(part f32 [0] tile [64], tensor f32 [0] at 4, 3, 0.5)
// CHECK: grid 0 1 1
// CHECK-NOT: key [[KEY]]
// CHECK: key {{[0-9a-f]+}}

// Strides: rows that are 16-byte multiples keep the fact, others lose it; 2^31 elements are not small.
#[tile]
fn copy<T: ElementType, const S: [i32; 2]>(z: &mut Tensor<T, S>, x: &Tensor<T, {[-1, -1]}>) {
    let p = x.partition(shape![S[0], S[1]]);
    let (i, j, _) = get_tile_block_id();
    z.store(p.load([i, j]));
}
//@ call copy(part f32 [70, 30] tile [16, 8] stride [32, 1], tensor f32 [65536, 65536] stride [1, 65536])
// CHECK: grid 5 4 1
// CHECK-NEXT: arg 0 unique f32 rank 2 aligned16 unit_stride small
// CHECK-NEXT: arg 1 shared f32 rank 2{{$}}

#[kernel]
fn vecadd(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(o) = c.get_mut(idx) { *o = a[i] + b[i]; }
}
//@ call vecadd(tensor f32 [1025], tensor f32 [1025], tensor f32 [5, 205])
// CHECK: grid 5 1 1 block 256 1 1 equal_lens
//@ call vecadd{block = 64}(tensor f32 [1025], tensor f32 [1000], tensor f32 [1025])
// CHECK: grid 17 1 1 block 64 1 1{{$}}
//@ call vecadd{grid = 2 3, block = 8 8}(tensor f32 [8], tensor f32 [8], tensor f32 [8])
// CHECK: grid 2 3 1 block 8 8 1

#[kernel]
#[launch_bounds(128, 2)]
fn bounded(mut c: DisjointSlice<f32>) {
    if let Some(o) = c.get_mut(thread::index_1d()) { *o = 1.0; }
}
//@ call bounded(tensor f32 [1000])
// CHECK: grid 8 1 1 block 128 1 1

#[kernel]
#[launch_contract(domain = 1, block = (32, 1, 1))]
fn contracted(mut c: DisjointSlice<f32>) {
    if let Some(o) = c.get_mut(thread::index_1d()) { *o = 1.0; }
}
//@ call contracted(tensor f32 [1000])
// CHECK: grid 32 1 1 block 32 1 1

// From names and assumed facts alone.
//@ assume add{B = 32}
// CHECK: grid 1 1 1 block 1 1 1
// CHECK: arg 1 shared f32 rank 1 aligned16 unit_stride small
