pub struct W { a: i32, b: P }
pub struct P(i32);
pub enum O { N, S(P) }
fn eat(p: P) {}
fn eatw(p: W) {}
fn look(p: &P) {}
fn idr<'a>(p: &'a P) -> &'a P { p }
fn pick<'a>(p: &'a mut P, q: &'a mut P) -> &'a mut P { p }
impl P { fn eat(self) {} fn look(&self) -> i32 { 0 } fn poke(&mut self) -> i32 { 0 } fn get(&mut self) -> &mut i32 { &mut self.0 } fn add(&mut self, x: i32) {} }

pub fn f01(p: P) {
    eat(p);
    eat(p);
}

pub fn f02(p: P) {
    p.eat();
    look(&p);
}

pub fn f03(p: P) {
    loop { eat(p); }
}

pub fn f04(p: P) {
    for i in 0..3 { eat(p); }
}

pub fn f05(w: W) {
    eat(w.b);
    eatw(w);
}

pub fn f06(w: W) {
    eat(w.b);
    let r = &w;
}

pub fn f07(c: bool, p: P) {
    if c { eat(p); }
    look(&p);
}

pub fn f23(o: O) {
    match o { O::S(p) => eat(p), O::N => {} }
    let z = &o;
}

pub fn f35(c: bool, mut p: P) {
    while c { p.eat(); }
}

pub fn f36(p: P) {
    let q = p;
    let r = p;
}

pub fn f40(t: (P, P)) {
    let (a, b) = t;
    let c = t.0;
}

pub fn f43(x: &mut i32) {
    let y = x;*x = 1;*y = 2;
}

pub fn f44(o: O) {
    if let O::S(p) = o { eat(p); }
    if let O::S(p) = o { eat(p); }
}

pub fn f50<T>(t: T) {
    let a = t;
    let b = t;
}
