fn f() {
    let x = None;
}
