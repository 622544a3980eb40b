pub struct W { a: i32, b: P }
pub struct P(i32);
pub enum O { N, S(P) }
fn eat(p: P) {}
fn eatw(p: W) {}
fn look(p: &P) {}
fn idr<'a>(p: &'a P) -> &'a P { p }
fn pick<'a>(p: &'a mut P, q: &'a mut P) -> &'a mut P { p }
impl P { fn eat(self) {} fn look(&self) -> i32 { 0 } fn poke(&mut self) -> i32 { 0 } fn get(&mut self) -> &mut i32 { &mut self.0 } fn add(&mut self, x: i32) {} }

pub fn f20() {
    let r;
    { let p = P(1); r = &p; }
    r.look();
}

pub fn f21() -> &'static P {
    let p = P(1);
    &p
}

pub fn f22() {
    let r = &mut P(1).0;
    let r2: &P = idr(&P(1));
    r2.look();
}

pub fn f34<'a>(p: P) -> &'a P {
    idr(&p)
}
