// Tensors that kernels make: shapes and strides as values, helpers that return tensors.
unsafe fn matrix(p: *mut f32, rows: i32, stride: i32) -> Tensor<f32, {[-1, 4]}> {
    let shape: Shape<{[-1, 4]}> = Shape::<{[-1, 4]}> { dims: &[rows] };
    let strides: Array<{[-1, 1]}> = Array::<{[-1, 1]}> { dims: &[stride] };
    make_tensor_view(pointer_to_tile(p), shape, strides, new_token_unordered())
}
#[tile]
unsafe fn copy(to: *mut f32, from: *mut f32, rows: i32) {
    let x = matrix(from, rows, 8);
    let y = matrix(to, rows, 4);
    let z = make_tensor_view(pointer_to_tile(from).offset(2), shape![4], const_array![2], new_token_unordered());
    let all: Shape<{[-1, 4]}> = x.shape();
    let t = x.partition(shape![2, 4]).load([program_id(0), all.dims[0] - rows]);
    let u = z.partition(shape![4]).load([0]);
    y.partition_full_mut(shape![2, 4]).store(t + u.reshape(shape![1, 4]).broadcast(shape![2, 4]), [program_id(0), 0]);
}
//@ call copy{grid = 2}(tensor f32 [16], tensor f32 [32], 4)
// CHECK: fn @copy
// CHECK: %[[X:[a-z0-9]+]] = make_tensor %from, %rows, %[[N:[0-9]+]], %{{[0-9]+}}, %{{[0-9]+}} : tensor<? x 4 x f32>
// CHECK: %[[Y:[a-z0-9]+]] = make_tensor %to, %rows
// CHECK: %[[Z:[a-z0-9]+]] = make_tensor %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : tensor<4 x f32>
// CHECK: load_tile %[[X]]
// CHECK: load_tile %[[Z]]
// CHECK: store_tile %[[Y]]
