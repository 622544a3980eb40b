fn f() {
    assert!();
}
