struct P { x: i32, y: i32 }
fn f(p: P) -> i32 {
    p.z
}
