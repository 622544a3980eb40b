struct P { x: i32 }
fn f(a: P, b: P) {
    let c = a + b;
}
