// Copies between two views of one device, as bits. `turn` is for views where what lies side by side is
// the last axis of the one and the axis before it of the other, which comes with these two exchanged.
#[tile]
fn copy<T: ElementType, const R: i32, const C: i32>(z: &mut Tensor<T, {[1, R, C]}>, x: &Tensor<T, {[-1, -1, -1]}>) {
    z.store(x.load_like(z));
}

#[tile]
fn turn<T: ElementType, const R: i32, const C: i32>(z: &mut Tensor<T, {[1, R, C]}>, x: &Tensor<T, {[-1, -1, -1]}>) {
    let (i, j, k) = get_tile_block_id();
    let t = x.partition(shape![1, C, R]).load([i, k, j]).reshape(shape![C, R]);
    z.store(t.transpose().reshape(shape![1, R, C]));
}
