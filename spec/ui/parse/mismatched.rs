fn f() {
    let x = g(1, [2, 3);
}
