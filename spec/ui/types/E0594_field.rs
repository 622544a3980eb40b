struct P { x: i32 }
fn f() -> i32 {
    let p = P { x: 0 };
    p.x = 1;
    p.x
}
