fn f() -> i32 {
    return 1;
    let x = 2;
    x
}
