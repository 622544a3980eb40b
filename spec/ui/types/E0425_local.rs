fn f(count: i32) -> i32 {
    cuont + 1
}
