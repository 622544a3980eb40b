fn f(x: i32) -> i32 {
    unsafe { x + 1 }
}
