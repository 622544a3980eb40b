// A tensor that is made is one tensor: no branch decides which.
#[tile]
unsafe fn f(p: *mut f32, n: i32) {
    let s: Shape<{[-1]}> = Shape::<{[-1]}> { dims: &[n] };
    let t = if n > 4 {
        make_tensor_view(pointer_to_tile(p), s, const_array![1], new_token_unordered())
    } else {
        make_tensor_view(pointer_to_tile(p).offset(1), s, const_array![1], new_token_unordered())
    };
    let x = t.partition(shape![4]).load([0]);
}
//@ call f{grid = 1}(tensor f32 [8], 8)
