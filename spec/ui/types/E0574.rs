fn f() {
    let p = f32 { x: 1 };
}
