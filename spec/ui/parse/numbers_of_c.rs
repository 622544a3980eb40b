fn f() {
    let a = 1.0f;
    let b = 2f;
    let c = 3u;
    let d = 4L;
    let e = 5x;
    let f = .5;
}
fn g(args: ...) {}
