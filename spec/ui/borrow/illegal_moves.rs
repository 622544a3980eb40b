pub struct W { a: i32, b: P }
pub struct P(i32);
pub enum O { N, S(P) }
fn eat(p: P) {}
fn eatw(p: W) {}
fn look(p: &P) {}
fn idr<'a>(p: &'a P) -> &'a P { p }
fn pick<'a>(p: &'a mut P, q: &'a mut P) -> &'a mut P { p }
impl P { fn eat(self) {} fn look(&self) -> i32 { 0 } fn poke(&mut self) -> i32 { 0 } fn get(&mut self) -> &mut i32 { &mut self.0 } fn add(&mut self, x: i32) {} }

pub fn f08(p: &P) {
    eat(*p);
}

pub fn f09(p: &W) {
    let q = p.b;
}

pub fn f10(v: [P; 3]) {
    let q = v[0];
}

pub fn f11(v: &[P]) {
    let q = v[0];
}

pub fn f24(o: &O) {
    match *o { O::S(p) => eat(p), O::N => {} }
}

pub fn f41(w: &mut W) {
    let q = w.b;
}

pub fn f45(r: &mut P) {
    let c = || { let q = *r; };
}
