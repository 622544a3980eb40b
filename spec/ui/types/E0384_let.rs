fn f() -> i32 {
    let x = 0;
    x = 1;
    x
}
