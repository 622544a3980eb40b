struct P(i32);
fn apply<F: Fn(i32) -> P>(f: F) -> P { f(1) }
fn f() -> P {
    apply(P)
}
