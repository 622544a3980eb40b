fn apply<F: Fn(i32) -> i32>(f: F) -> i32 { f(1) }
fn g(x: f32) -> f32 { x }
fn f() -> i32 {
    apply(g)
}
