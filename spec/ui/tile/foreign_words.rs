// Names of other languages and libraries, and what is said of them.
#[tile]
fn words<const B: i32>(z: &mut Tensor<f32, {[B]}>, n: i32) {
    let t = z.load();
    let a = t ^ 2;
    let b = (t, t)[0];
    let c = constant(0, shape![B]);
    z.store(c);
    z.store(z);
}
