// A constructor that was handed over as a function takes its argument.
pub struct Wrap(i32);
pub struct Gen<T>(T, i32);
fn map2<A, B, U, F: Fn(A, B) -> U>(x: A, y: B, f: F) -> U { f(x, y) }
fn moved(w: Wrap) -> i32 {
    let g = map2(w, 1, Gen);
    g.1 + w.0
}
fn moved_by_value(w: Wrap) -> i32 {
    let make = Some;
    let g = make(w);
    w.0
}
