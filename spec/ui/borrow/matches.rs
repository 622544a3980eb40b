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

pub fn f18(o: O) -> i32 {
    match o { O::N => 0, O::S(p) => p.look(), O::T { q, n } => n }
}

pub fn f19(o: &O) -> i32 {
    match o { O::N => 0, O::S(p) => p.look(), O::T { q, n } => *n }
}

pub fn f20(o: O) {
    match &o { O::S(p) => eat(*p), _ => {} }
}

pub fn f21(mut o: O) {
    match &mut o { O::S(p) => { p.poke(); look(p); }, _ => {} }
    o = O::N;
}

pub fn f22(mut o: O) {
    if let O::S(p) = &mut o { o = O::N; p.poke(); }
}

pub fn f23(mut o: O) {
    if let O::S(p) = &o { o = O::N; }
}

pub fn f24(mut o: O) {
    while let O::S(p) = o { eat(p); o = O::N; }
}

pub fn f25(o: O) {
    while let O::S(p) = o { eat(p); }
}

pub fn f76(x: Option<P>) {
    if let Some(p) = x { eat(p); }
    match x { Some(p) => eat(p), None => {} }
}

pub fn f77(x: &Option<P>) {
    if let Some(p) = x { look(p); }
    if let Some(p) = *x { eat(p); }
}

pub fn f78(x: Option<P>) {
    let y = match x { Some(ref p) => p.look(), None => 0 };
    let z = x;
}

pub fn f84(o: O, c: bool) {
    match o { O::S(p) if c => eat(p), O::S(p) => eat(p), _ => {} }
    look(&mk());
}
