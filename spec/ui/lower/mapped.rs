// Mapped partitions: maps, ranges, and stores at other indices than their own.
#[tile]
fn leading<const M: [i32; 3]>(mut z: MappedPartitionMut<f32, {[1, 4, 4]}, M>) {
    for i in z.iter_indices() { z.store(constant(0.0f32, shape![1, 4, 4]), i); }
}
//@ call leading(part f32 [4, 8, 8] tile [1, 4, 4] map [2, 1, 1] 4)

#[tile]
fn owned<const M: [i32; 2]>(mut z: MappedPartitionMut<f32, {[4, 4]}, M>) {
    for i in z.iter_indices() { z.store(constant(0.0f32, shape![4, 4]), i); }
}
//@ call owned(part f32 [8, 8] tile [4, 4] map [0, 0] 1)

#[tile]
fn range<const M: [i32; 2]>(mut z: MappedPartitionMut<f32, {[4, 4]}, M>) {
    for i in z.iter_indices_within([(-1, 2), (0, -1)]) { z.store(constant(0.0f32, shape![4, 4]), i); }
}
//@ call range(part f32 [8, 8] tile [4, 4] map [1, 1] 2)

#[tile]
fn foreign<const M: [i32; 2]>(a: MappedPartitionMut<f32, {[4, 4]}, M>, mut b: MappedPartitionMut<f32, {[4, 4]}, M>) {
    for i in a.iter_indices() { b.store(constant(0.0f32, shape![4, 4]), i); }
}
//@ call foreign(part f32 [8, 8] tile [4, 4] map [1, 1] 2, part f32 [8, 8] tile [4, 4] map [1, 1] 2)

#[tile]
unsafe fn unminted<const M: [i32; 2]>(mut z: MappedPartitionMut<f32, {[4, 4]}, M>) {
    let i: PartitionIndex<{[4, 4]}> = swizzle_partition_index_2d::<{[4, 4]}, M>(0, 2, 2);
    z.store(constant(0.0f32, shape![4, 4]), i);
}
//@ call unminted(part f32 [8, 8] tile [4, 4] map [1, 1] 2)

#[tile]
fn streamed<const M: [i32; 2]>(mut z: MappedPartitionMut<f32, {[1, 4]}, M>) {
    for i in z.iter_indices() {
        let (row, column) = i.components();
        for j in num_tiles(&z, 1).into_dim() { z.store(constant(0.0f32, shape![1, 4]), coord((row, j))); }
    }
}
//@ call streamed(part f32 [8, 8] tile [1, 4] map [1, 1] 2)

#[tile]
fn other_dim<const M: [i32; 2]>(mut z: MappedPartitionMut<f32, {[1, 4]}, M>) {
    for i in z.iter_indices() {
        let (row, column) = i.components();
        z.store(constant(0.0f32, shape![1, 4]), coord((row, row)));
    }
}
//@ call other_dim(part f32 [8, 8] tile [1, 4] map [1, 0] 2)

#[tile]
fn block<const M: [i32; 2]>(mut z: MappedPartitionMut<f32, {[1, 4]}, M>) {
    for j in num_tiles(&z, 1).into_dim() { z.store(constant(0.0f32, shape![1, 4]), coord((program_id(0), j))); }
}
//@ call block(part f32 [8, 8] tile [1, 4] map [1, 0] 2)
