fn f(a: Tensor<f32, >>) {}
fn g() {
    let a: Vec<i32 = 1;
    let b = c.0x1;
    let d = S { a = 1 };
    let e = a.fn;
}
