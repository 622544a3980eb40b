fn f(o: Option<i32>) -> i32 {
    let Some(x) = o;
    x
}
