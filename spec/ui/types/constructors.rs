// A tuple struct's or variant's constructor is a function, so a value too.
pub struct Pair(i32, i32);
pub struct Wrap(i32);
pub struct Gen<T>(T, i32);
pub struct Named { x: i32 }
pub enum E { A(i32), B, C { x: i32 } }
mod inner { pub struct Hidden(i32); }
fn map<T, U, F: Fn(T) -> U>(x: T, f: F) -> U { f(x) }
fn map2<A, B, U, F: Fn(A, B) -> U>(x: A, y: B, f: F) -> U { f(x, y) }

fn accepted(x: i32) -> Option<i32> {
    let make = Gen;
    let g: Gen<f32> = make(1.5, x);
    let p = map2(g.1, 2, Pair);
    match map(p.0 + map(p.1, Wrap).0, E::A) { E::A(n) => map(n, Some), _ => None }
}

fn wrong(x: f32) -> Wrap { map(x, Wrap) }
fn counts() -> Wrap { map2(1, 2, Wrap) }
fn hidden() { let _x = map(3, inner::Hidden); }
fn named() { let _x = map(3, Named); }
fn named_variant() { let _x = map(3, E::C); }
fn typed() { let _x: i32 = Wrap; let _y: E = E::A; }
