fn g(p: *const f32) {}
fn f(x: &f32) {
    g(x);
}
