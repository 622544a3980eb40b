// Two partitions that share a schedule have one grid: the dimension of the one is the other's too.
#[tile]
unsafe fn shared_dimension<const MAP: [i32; 2]>(mut a: MappedPartitionMut<f32, {[1, 16]}, MAP>, mut b: MappedPartitionMut<f32, {[1, 16]}, MAP>) {
    let columns = num_tiles(&a, 1).into_dim();
    for index in a.iter_indices_with(&b) {
        let (row, _) = index.components();
        for j in columns {
            a.store(constant(1.0f32, shape![1, 16]), coord((row, j)));
            b.store(constant(2.0f32, shape![1, 16]), coord((row, j)));
        }
    }
}
//@ assume shared_dimension{MAP = [1, 0]}
// CHECK: %row = below
// CHECK: store_tile %a, %{{[0-9]+}}, %row, %j
// CHECK: store_tile %b, %{{[0-9]+}}, %row, %j
