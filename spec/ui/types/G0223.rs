fn f() {
    let v = vec![1, 2];
}
fn g(n: i32) {
    printline!("{}", n);
    printf!("%d", n);
}
