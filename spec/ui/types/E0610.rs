fn f(x: i32) -> i32 {
    x.y
}
