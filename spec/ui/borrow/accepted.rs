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

pub fn f02(x: Option<P>) {
    if let Some(p) = x { eat(p); }
    match x { _ => {} }
}

pub fn f03(x: Option<P>) {
    let y = x;
    match x { _ => {} }
}

pub fn f06(x: (P, P)) {
    let y = x.0;
    let (_, b) = x;
}

pub fn f07(x: (P, P)) {
    let y = x.0;
    match x { (_, b) => eat(b) }
}

pub fn f09(x: (P, P)) {
    let y = x;
    let _ = x;
}

pub fn f17(mut x: (i32, i32)) {
    let y = &mut x.0;
    match x { (_, k) => {} }
    let z = y;
}

pub fn f20(x: i32, c: bool) -> i32 {
    let y;
    match x { 1 => { y = 2; } 2 => { y = 3; } _ => { return 1; } }
    y
}

pub fn f22(x: O) {
    let y = match x { O::S(p) | O::T { q: p, .. } => p, O::N => mk() };
    look(&y);
    eat(y);
}

pub fn f24(x: &O) {
    let y = match x { O::S(p) | O::T { q: p, .. } => p, O::N => return };
    look(y);
}

pub fn f28(mut p: P) {
    'o: for i in 0..3 { for j in 0..3 { if j == 1 { continue 'o; } eat(p); break 'o; } }
}

pub fn f33(p: P) {
    let r: &P;
    { let q = &p; r = q; }
    look(r);
}

pub fn f35() {
    let x = 1;
    let r = { let y = 2; &x };
    let z = *r;
}

pub fn f36() -> i32 {
    let x = mk();
    let r = &x;*r.rd()
}

pub fn f41(mut p: P, mut q: P) {
    let r = pick(&mut p, &mut q);
    r.poke();
    q.poke();
}

pub fn f43(mut p: P) {
    let a = (&mut p, 1);
    let b = a.1;
    a.0.poke();
    p.poke();
}

pub fn f46(mut p: P) {
    let a = Some(&mut p);
    if let Some(r) = a { r.poke(); }
    p.poke();
}

pub fn f51(mut w: W) {
    let a = &mut w.a;
    let b = &mut w.b;*a = 1;
    b.poke();
}

pub fn f52(w: &mut W) {
    let a = &mut w.a;
    let b = &mut w.b;*a = 1;
    b.poke();
    w.a = 2;
}

pub fn f54(w: &mut W) {
    let a = &w.a;
    w.b.poke();
    let k = *a;
}

pub fn f56(m: M) {
    m.m.poke();
    let r = &m;
    r.m.look();
    let k = m;
}

pub fn f58<'a>(m: &'a mut M) -> &'a mut P {
    &mut *m.m
}

pub fn f60<'a, 'b>(m: &'a R<'b>) -> &'b P {
    m.r
}

pub fn f61<'b>(m: M<'b>) -> &'b mut P {
    m.m
}

pub fn f64(p: P) -> i32 {
    let c = |x: i32| { let q = mk(); q.look() + p.look() + x };
    call(c) + call(c)
}

pub fn f67(p: &mut P) {
    let q = &mut *p;
    let r = &*q;
    r.look();
    q.poke();
    p.poke();
}

pub fn f70(p: &mut P) {
    poke(p);
    poke(p);
    let q: &mut P = p;
    q.poke();
    p.poke();
}

pub fn f71(x: C) {
    let y = x;
    let z = x;
}

pub fn f72<T: Copy>(x: T) {
    let y = x;
    let z = x;
}

pub fn f73<T>(x: T, c: bool) -> T {
    if c { return x; }
    x
}

pub fn f76(p: P) -> P {
    let q = p.me();
    q.me().me()
}

pub fn f79(mut x: i32) {
    let y;
    { let mut z = 1; y = &mut z; *y = 2; }
    x = 1;
}

pub fn f81(mut x: i32) {
    let c = move |k: i32| x + k;
    x = 1;
    c(1);
}
