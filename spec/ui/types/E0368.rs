fn f() {
    let mut b = true;
    b += false;
}
