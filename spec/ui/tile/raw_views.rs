// Tensors of an address, extents and strides.
#[tile]
unsafe fn counts(p: *mut f32, n: i32) {
    let one: Shape<{[-1, 4]}> = Shape::<{[-1, 4]}> { dims: &[n] };
    let whole: Shape<{[-1, 4]}> = Shape::<{[-1, 4]}> { dims: &[n, 4] };
    let many = Shape::<{[-1, 4]}> { dims: &[n, 4, 2] };
    let none = Array::<{[-1, -1, 1]}> { dims: &[] };
    let other = Array::<{[-1, 1]}> { dim: &[4] };
    let t = make_tensor_view(pointer_to_tile(p), one, const_array![1], new_token_unordered());
    let u = make_tensor_view(pointer_to_tile(p), whole, Array::<{[-1, 1]}> { dims: &[4] }, new_token_unordered());
}
#[tile]
fn safe(x: &Tensor<i64, {[-1]}>) {
    let p: PointerTile<*mut f32, {[]}> = int_to_ptr(x.load_tile(shape![1], [0]).reshape(shape![]));
    let t = make_tensor_view(p, shape![4], const_array![1], new_token_unordered());
}
