fn f(a: [f32; 4]) {
    for x in a {}
}
