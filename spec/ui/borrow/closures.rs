pub struct W { a: i32, b: P }
pub struct P(i32);
pub enum O { N, S(P) }
fn eat(p: P) {}
fn eatw(p: W) {}
fn look(p: &P) {}
fn idr<'a>(p: &'a P) -> &'a P { p }
fn pick<'a>(p: &'a mut P, q: &'a mut P) -> &'a mut P { p }
impl P { fn eat(self) {} fn look(&self) -> i32 { 0 } fn poke(&mut self) -> i32 { 0 } fn get(&mut self) -> &mut i32 { &mut self.0 } fn add(&mut self, x: i32) {} }

pub fn f25(p: P) {
    let c = move || p.look();
    p.look();
    c();
}

pub fn f26(mut p: P) {
    let c = || p.look();
    p.poke();
    c();
}

pub fn f28(p: P) {
    let c = || eat(p);
    look(&p);
}

pub fn f42(p: P) {
    let c = || { let q = p; };
    c();
    c();
}

pub fn f47(mut x: i32) -> i32 {
    let y = &mut x;
    let z = || x + 1;*y = 3;
    z()
}
