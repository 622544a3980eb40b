// t:convert(dtype): every element as Rust's `as` has it.
#[tile]
fn convert<T: ElementType, S: ElementType, const B: i32>(z: &mut Tensor<T, {[B]}>, x: &Tensor<S, {[-1]}>) {
    z.store(convert_tile(x.load_like(z)));
}
