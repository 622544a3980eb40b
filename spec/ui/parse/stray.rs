fn f() {
    let x = g(1));
}
