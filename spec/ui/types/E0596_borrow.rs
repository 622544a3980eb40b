fn g(x: &mut i32) { *x = 1; }
fn f() {
    let x = 0;
    g(&mut x);
}
