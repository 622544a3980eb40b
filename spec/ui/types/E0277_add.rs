fn f(a: i32, b: f32) -> i32 {
    a + b
}
