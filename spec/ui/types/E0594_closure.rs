fn apply<F: Fn(i32) -> i32>(f: F) -> i32 { f(1) }
fn f() -> i32 {
    let mut sum = 0;
    apply(|x| { sum = x; x });
    sum
}
