// What is passed does not matter, nor does what comes back.
#[kernel]
fn g(a: &[f32], n: u32) {}
#[kernel]
fn h<T: Copy>(a: &[T]) {}
#[kernel]
fn f(a: &[f32]) {
    g(a);
    g();
    g(a, 1, 2);
    g(1, a);
    h();
    let x: f32 = g(a, 1);
    g(a, missing);
}
