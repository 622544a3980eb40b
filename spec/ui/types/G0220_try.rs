fn f(a: Option<f32>) -> Option<f32> {
    let x = a?;
    None
}
