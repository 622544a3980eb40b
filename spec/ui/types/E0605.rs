fn f(p: (i32, i32)) -> i32 {
    p as i32
}
