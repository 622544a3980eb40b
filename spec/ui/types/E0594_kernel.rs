#[kernel]
fn f(x: &[f32]) {
    let i = thread::index_1d().get();
    x[i] = 1.0;
}
