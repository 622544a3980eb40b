fn f(a: i32, b: u32) -> bool {
    a < b
}
