fn f(c: bool) {
    let x = if c { 1i32 } else { 2.0f32 };
}
