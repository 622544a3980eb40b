// Partitions borrow their tensor, as upstream's signatures say; rustc judges the same lines alike.
fn tile() -> Tile<f32, {[4]}> { constant(1.0, shape![4]) }
#[tile]
fn both(z: &mut Tensor<f32, {[16]}>) {
    let mut a = z.partition_mut(shape![4]);
    let mut b = z.partition_mut(shape![4]);
    a.store(tile(), [0]);
}
#[tile]
fn one_then_other(z: &mut Tensor<f32, {[16]}>) {
    let mut a = z.partition_mut(shape![4]);
    a.store(tile(), [0]);
    let mut b = z.partition_mut(shape![4]);
    b.store(tile(), [1]);
    z.store(z.load());
}
#[tile]
fn read_beside(z: &mut Tensor<f32, {[16]}>) {
    let mut a = z.partition_mut(shape![4]);
    let p = z.partition(shape![4]);
    a.store(p.load([0]), [0]);
}
#[tile]
fn whole_beside(z: &mut Tensor<f32, {[16]}>) {
    let mut a = z.partition_mut(shape![4]);
    z.store(constant(1.0, shape![16]));
    a.store(tile(), [0]);
}
#[tile]
fn whole_read(z: &mut Tensor<f32, {[4]}>) {
    let mut a = z.partition_mut(shape![4]);
    a.store(z.load(), [0]);
}
#[tile]
fn written_under(z: &mut Tensor<f32, {[4]}>) {
    let p = z.partition(shape![4]);
    z.store(p.load([0]));
    let t = p.load([0]);
}
#[tile]
fn written_with(z: &mut Tensor<f32, {[4]}>) {
    let p = z.partition(shape![4]);
    z.store(p.load([0]));
}
#[tile]
fn bounded(z: &mut Tensor<f32, {[4, 4]}>) {
    let mut a = z.partition_mut(shape![1, 4]).with_bounds((Dim::new(4), Dim::new(1)));
    let mut b = z.partition_mut(shape![1, 4]);
    for i in Dim::new(1) { a.store(constant(1.0, shape![1, 4]), coord((i, i))); }
}
#[tile]
fn in_loop(z: &mut Tensor<f32, {[16]}>) {
    let mut a = z.partition_mut(shape![4]);
    for i in 0..4 {
        a.store(tile(), [i]);
        let mut b = z.partition_mut(shape![4]);
        b.store(tile(), [i]);
    }
}
#[tile]
fn each_turn(z: &mut Tensor<f32, {[16]}>) {
    for i in 0..4 {
        let mut a = z.partition_mut(shape![4]);
        a.store(tile(), [i]);
    }
}
#[tile]
fn one_or_other(z: &mut Tensor<f32, {[16]}>, y: &mut Tensor<f32, {[16]}>, c: bool) {
    let mut a = if c { z.partition_mut(shape![4]) } else { y.partition_mut(shape![4]) };
    let b = y.partition(shape![4]);
    a.store(tile(), [0]);
}
#[tile]
fn full(z: &Tensor<f32, {[16]}>) {
    let (mut a, mut b) = unsafe { (z.partition_full_mut(shape![4]), z.partition_full_mut(shape![4])) };
    a.store(tile(), [0]);
    b.store(tile(), [0]);
}
fn helper(p: &mut PartitionMut<f32, {[4]}>, q: &Partition<f32, {[4]}>) { p.store(q.load([0]), [0]); }
fn made(z: &mut Tensor<f32, {[16]}>) -> PartitionMut<f32, {[4]}> { z.partition_mut(shape![4]) }
fn made_of<'a>(z: &'a mut Tensor<f32, {[16]}>, x: &Tensor<f32, {[16]}>) -> PartitionMut<'a, f32, {[4]}> {
    z.partition_mut(shape![4])
}
#[tile]
fn by_helper(z: &mut Tensor<f32, {[16]}>) {
    let mut a = made(z);
    let mut b = made(z);
    helper(&mut a, &z.partition(shape![4]));
}
struct Held<'a> { p: PartitionMut<'a, f32, {[4]}> }
#[tile]
fn held(z: &mut Tensor<f32, {[16]}>) {
    let mut h = Held { p: z.partition_mut(shape![4]) };
    let mut b = z.partition_mut(shape![4]);
    h.p.store(tile(), [0]);
}
