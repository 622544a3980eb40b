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

pub fn f01(p: P) {
    let r = mkr(&p);
    eat(p);
    r.inner();
}

pub fn f02(p: P, q: P) {
    let r = one(&p, &q);
    eat(q);
    look(r);
}

pub fn f03(p: P, q: P) {
    let r = one(&p, &q);
    eat(p);
    look(r);
}

pub fn f04(mut p: P) {
    let x = { let r = mkr(&p); r.inner() };
    p.poke();
    look(x);
}

pub fn f36<'a>(r: &'a P, s: &P) -> &'a P {
    s
}

pub fn f37<'a, 'b>(r: &'a P, s: &'b P) -> &'a P {
    s
}

pub fn f38<'a, 'b: 'a>(r: &'a P, s: &'b P) -> &'a P {
    s
}

pub fn f39<'a>(r: &'a P) -> R<'a> {
    mkr(r)
}

pub fn f40<'a>(r: P) -> R<'a> {
    mkr(&r)
}

pub fn f41(c: bool) {
    let r;
    if c { let p = mk(); r = idr(&p); } else { return; }
    look(r);
}

pub fn f43() {
    let r = idr(&mk());
    look(r);
}

pub fn f46() {
    let r = mkr(&mk());
    r.inner();
}
