pub struct W { a: i32, b: P }
pub struct P(i32);
pub struct R<'a> { r: &'a P, n: i32 }
pub struct M<'a> { m: &'a mut P, n: i32 }
#[derive(Clone, Copy)]
pub struct C { x: i32, y: i32 }
pub enum O { N, S(P), T { q: P, n: i32 } }
fn eat(p: P) {}
fn mk() -> P { P(1) }
fn look(p: &P) -> i32 { 0 }
fn poke(p: &mut P) {}
fn idr<'a>(p: &'a P) -> &'a P { p }
fn mkr<'a>(p: &'a P) -> R<'a> { R { r: p, n: 1 } }
fn pick<'a>(p: &'a mut P, q: &'a mut P) -> &'a mut P { p }
fn one<'a, 'b>(p: &'a P, q: &'b P) -> &'a P { p }
fn call<F: Fn(i32) -> i32>(f: F) -> i32 { f(1) }
fn callm<F: FnMut(i32) -> i32>(mut f: F) -> i32 { f(1) }
fn callo<F: FnOnce(i32) -> i32>(f: F) -> i32 { f(1) }
fn set(x: &mut i32, v: i32) {}
impl P { fn eat(self) {} fn look(&self) -> i32 { 0 } fn poke(&mut self) -> i32 { 0 } fn get(&mut self) -> &mut i32 { &mut self.0 } fn rd(&self) -> &i32 { &self.0 } fn add(&mut self, x: i32) {} fn me(self) -> P { self } }
impl<'a> R<'a> { fn inner(&self) -> &'a P { self.r } fn own(self) -> &'a P { self.r } }

pub fn f07(mut x: i32) {
    let c = |y: i32| x + y;
    x = 3;
    c(1);
}

pub fn f10(p: P) {
    let c = move |y: i32| p.look() + y;
    c(1);
    c(2);
    eat(p);
}

pub fn f11(mut w: W) {
    let c = |y: i32| w.a + y;
    let b = &mut w.b;
    c(1);
    b.poke();
}

pub fn f12(mut w: W) {
    let c = |y: i32| w.b.look() + y;
    let b = &mut w.b;
    c(1);
    b.poke();
}

pub fn f13(p: P) -> i32 {
    call(|y| p.look() + y) + p.look()
}

pub fn f15(p: P) -> i32 {
    call(|y| { eat(p); y })
}

pub fn f16(p: P) -> i32 {
    callo(|y| { eat(p); y }) + p.look()
}

pub fn f17(p: P) -> i32 {
    callo(|y| { eat(p); eat(p); y })
}

pub fn f74() -> i32 {
    let x = 1;
    let c = |y: i32| x + y;
    let d = c;
    c(1) + d(2)
}

pub fn f75(p: P) {
    let c = move || p.look();
    let d = c;
    c();
}
