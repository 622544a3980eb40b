fn f(n: f32) {
    for i in 0.0..n {}
}
