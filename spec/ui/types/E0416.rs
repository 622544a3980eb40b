fn f(p: (i32, i32)) -> i32 {
    let (x, x) = p;
    x
}
