pub struct W { a: i32, b: P }
pub struct P(i32);
pub enum O { N, S(P) }
fn eat(p: P) {}
fn eatw(p: W) {}
fn look(p: &P) {}
fn idr<'a>(p: &'a P) -> &'a P { p }
fn pick<'a>(p: &'a mut P, q: &'a mut P) -> &'a mut P { p }
impl P { fn eat(self) {} fn look(&self) -> i32 { 0 } fn poke(&mut self) -> i32 { 0 } fn get(&mut self) -> &mut i32 { &mut self.0 } fn add(&mut self, x: i32) {} }

pub fn f14(mut p: P) {
    let a = &mut p;
    let b = &mut p;
    a.poke();
}

pub fn f15(mut p: P) {
    let a = &p;
    let b = &mut p;
    a.look();
}

pub fn f16(mut p: P) {
    let a = &mut p;
    let b = &p;
    a.poke();
}

pub fn f17(mut p: P) {
    let a = &p;
    eat(p);
    a.look();
}

pub fn f18(mut x: i32) {
    let a = &x;
    x = 3;
    let c = *a;
}

pub fn f19(mut x: i32) {
    let a = &mut x;
    let y = x;*a = 1;
}

pub fn f29(mut p: P) {
    let g = p.get();
    let h = p.get();*g = 1;
}

pub fn f32(mut a: [i32; 4]) {
    let x = &mut a[0];
    let y = &mut a[1];*x = 1;
}

pub fn f33(mut a: [i32; 4]) {
    let x = &a[0];
    a[1] = 3;
    let z = *x;
}

pub fn f37(mut p: P) {
    p.add(p.poke());
    p.add(p.look());
}

pub fn f38(mut x: i32) {
    let r = &mut x;
    x += 1;*r = 2;
}

pub fn f39<'a>(p: &'a mut P) -> &'a mut i32 {
    let r = p.get();
    p.poke();
    r
}

pub fn f46(mut w: W) {
    let a = &mut w.b;
    let b = &w;
    a.poke();
}

pub fn f49(p: P) {
    let y = [p, p];
}

pub fn used_two_phase(mut p: P) -> i32 {
    let r = p.get();
    let k = p.look();
    *r + k
}
