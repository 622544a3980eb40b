// Operators of structs are the methods of their traits, in generics too.
use core::ops::{Add, Mul, Neg, Not, Shl};
#[derive(Clone, Copy)]
struct W(f32);
impl Add for W { type Output = W; fn add(self, o: W) -> W { W(self.0 + o.0) } }
impl Mul<W> for f32 { type Output = W; fn mul(self, o: W) -> W { W(self * o.0) } }
impl Neg for W { type Output = W; fn neg(self) -> W { W(-self.0) } }
impl Not for W { type Output = bool; fn not(self) -> bool { self.0 == 0.0 } }
fn twice<T: Add<Output = T> + Copy>(a: T) -> T { a + a }
fn minus<T: Neg<Output = T>>(a: T) -> T { -a }
fn shift<T: Shl<u32, Output = T>>(a: T) -> T { a << 2 }
fn f(a: W, b: W) -> W { if !a { twice(a + b) } else { minus(-a) } }
fn g(a: i64) -> i64 { shift(twice(minus(a))) }
