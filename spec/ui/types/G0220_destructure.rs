fn f(a: [i32; 2]) -> i32 {
    let mut x = 0;
    let mut y = 0;
    [x, y] = a;
    x + y
}
