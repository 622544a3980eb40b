// Traits with generics of their own: one type, several impls.
use core::ops::Mul;
#[derive(Clone, Copy)]
struct V { x: f32 }
impl Mul<f32> for V { type Output = V; fn mul(self, k: f32) -> V { V { x: self.x * k } } }
impl Mul<V> for V { type Output = f32; fn mul(self, o: V) -> f32 { self.x * o.x } }
fn scale<T: Mul<f32>>(a: T, k: f32) -> <T as Mul<f32>>::Output { a * k }
fn dot<T: Mul<T, Output = f32>>(a: T, b: T) -> f32 { a.mul(b) }
fn right(a: V, b: V) -> f32 { let s: V = scale(a, 2.0); dot(s, b) + a * b + (b * 2.0).x }
fn paths(a: V) -> f32 { let s: V = <V as Mul<f32>>::mul(a, 2.0); <V as Mul<V>>::mul(a, s) }
fn projected(a: V) -> <V as Mul<f32>>::Output { a.mul(1.0) }

fn wrong_side(a: V) -> V { a * 2 }
fn wrong_result(a: V) -> V { a * a }
struct U { x: f32 }
impl Mul<f32> for U { type Output = U; fn mul(self, k: f32) -> U { U { x: self.x * k } } }
fn unmet(a: U, b: U) -> f32 { dot(a, b) }
fn half<T: Mul<f32, Output = f32>>(a: T) -> f32 { a * 0.5 }
fn other_output(a: U) -> f32 { half(a) }

trait Get<T> { fn get(&self) -> T; }
impl Get<i32> for V { fn get(&self) -> i32 { 1 } }
impl Get<f32> for V { fn get(&self) -> f32 { 1.0 } }
fn known(v: V) -> f32 { let a: i32 = v.get(); let b: f32 = v.get(); b + a as f32 }
fn unknown(v: V) { let c = v.get(); }

trait Ping { fn name(&self) -> i32; }
trait Pong { fn name(&self) -> i32; }
impl Ping for U { fn name(&self) -> i32 { 1 } }
impl Pong for U { fn name(&self) -> i32 { 2 } }
fn ambiguous(u: U) -> i32 { u.name() }
fn said(u: U) -> i32 { Pong::name(&u) }
fn no_trait(x: V::Output) {}
fn no_such(x: V::Nothing) {}
