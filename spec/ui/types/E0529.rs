fn f(a: f32) -> f32 {
    let [x] = a;
    x
}
