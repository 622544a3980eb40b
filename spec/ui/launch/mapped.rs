#[tile]
fn mapped<const M: [i32; 2]>(mut z: MappedPartitionMut<f32, {[4, 4]}, M>) {
    for i in z.iter_indices() { z.store(constant(0.0f32, shape![4, 4]), i); }
}
//@ call mapped(part f32 [8, 8] tile [4, 4])
//@ call mapped(tensor f32 [8, 8])
//@ call mapped(part f32 [8, 8] tile [4, 2] map [1, 1] 2)
//@ call mapped(part f32 [8] tile [4] map [1] 2)
//@ call mapped{grid = 3}(part f32 [8, 8] tile [4, 4] map [1, 1] 2)

#[tile]
fn two<const M: [i32; 1]>(mut z: MappedPartitionMut<f32, {[4]}, M>, mut y: MappedPartitionMut<f32, {[4]}, M>) {
    for i in z.iter_indices_with(&y) { z.store(constant(0.0f32, shape![4]), i); }
}
//@ call two(part f32 [32] tile [4] map [1] 2, part f32 [32] tile [4] map [1] 3)

#[tile]
fn plain<const B: i32>(z: &mut Tensor<f32, {[B]}>) { z.store(constant(0.0f32, shape![B])); }
//@ call plain(part f32 [32] tile [4] map [1] 2)
//@ call plain(part f32 [32] tile [4] prefix)
//@ call plain{grid = 9}(part f32 [32] tile [4] prefix)

#[cutile::entry(preconditions = (dim(x, 1) == dim(y, 0), dim(z, 0) % 8 == 0))]
fn needs(z: &mut Tensor<f32, {[4, 4]}>, x: &Tensor<f32, {[-1, -1]}>, y: &Tensor<f32, {[-1, -1]}>) { let t = z.load(); }
//@ call needs(part f32 [8, 8] tile [4, 4], tensor f32 [8, 16], tensor f32 [24, 8])
//@ call needs(part f32 [12, 8] tile [4, 4], tensor f32 [8, 16], tensor f32 [16, 8])
