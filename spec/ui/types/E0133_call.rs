unsafe fn g() -> i32 { 0 }
fn f() -> i32 {
    g()
}
