fn f(n: i32) {
    let t = constant(0.0f32, const_shape![n]);
}
