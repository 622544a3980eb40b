fn f(n: i32) {
    for i in 0...5 {}
}
fn g(n: i32) {
    for (i = 0; i < n; i++) {}
}
fn h(x: &Tensor<f32, [-1]>) {}
