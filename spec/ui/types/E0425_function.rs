fn helper() -> i32 { 0 }
fn f() -> i32 {
    helpr()
}
