fn f() {
    if x {
        g();
}

fn g() {}
