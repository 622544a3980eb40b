fn f(n: i32) {
    let r = 0..n;
}
