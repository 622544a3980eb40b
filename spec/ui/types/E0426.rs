fn f() {
    loop { break 'a; }
}
