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

pub fn f27(c: bool) -> i32 {
    let x;
    loop { x = 1; break; }
    x
}

pub fn f28(c: bool) -> i32 {
    let x;
    loop { x = 1; if c { break; } }
    x
}

pub fn f29(c: bool) -> i32 {
    let x: i32;
    while c { x = 1; break; }
    x
}

pub fn f30(c: bool) {
    let x;
    x = 1;
    x = 2;
}

pub fn f26(c: bool) -> i32 {
    let x;
    if c { x = 1; } else { x = 2; }
    x
}
