fn f(n: i32) {
    let mut x = 1.0f32;
    x = n;
}
