struct P(i32, i32);
fn f(p: P) -> i32 {
    let P(x) = p;
    x
}
