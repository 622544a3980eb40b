fn f() {
    break;
}
