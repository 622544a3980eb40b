struct P { x: i32 }
fn f(a: P, b: P) -> bool {
    a == b
}
