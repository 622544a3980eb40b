struct P { x: i32 }
fn f(p: P) -> i32 {
    let P { x: a, x: b } = p;
    a + b
}
