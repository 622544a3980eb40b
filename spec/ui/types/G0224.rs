fn f(m: i32) {
    panic!(m);
}
