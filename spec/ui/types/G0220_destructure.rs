fn f(a: i32, b: i32) -> i32 {
    let mut x = a;
    let mut y = b;
    (x, y) = (y, x);
    x + y
}
