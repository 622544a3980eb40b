fn f(a: [i32; 3]) -> i32 {
    let [x, y] = a;
    x + y
}
