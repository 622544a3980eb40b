#[kernel]
fn g(a: &[f32]) {}
#[kernel]
fn f(a: &[f32]) {
    g(a);
}
