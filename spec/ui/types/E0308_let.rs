fn f(n: i32) {
    let x: f32 = n;
}
