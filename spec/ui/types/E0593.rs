fn apply<F: Fn(i32, i32) -> i32>(f: F) -> i32 { f(1, 2) }
fn f() -> i32 {
    apply(|x| x)
}
