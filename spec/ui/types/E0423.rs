fn f() {
    let x = f32;
}
