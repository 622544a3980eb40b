// Functions inside functions, `self` where it is not, constants that call.
use core::ops::{Add, Neg};
struct P { x: f32 }
impl P {
    fn get() -> f32 { self.x }
    fn with(y: f32) -> f32 { self.x + y }
}
fn lone() -> f32 { self.x }
fn captures(n: i32) -> i32 {
    fn inner() -> i32 { n }
    inner()
}
fn generic<T>(x: T) -> T {
    fn inner(y: T) -> T { y }
    inner(x)
}
fn three() -> usize { 3 }
const fn four() -> usize { 4 }
const N: usize = three();
const M: usize = four();
const fn five() -> usize { three() + 2 }

impl Neg for bool { type Output = bool; fn neg(self) -> bool { !self } }
impl<T> Add for T { type Output = T; fn add(self, o: T) -> T { self } }
impl Add<P> for f32 { type Output = f32; fn add(self, o: P) -> f32 { self + o.x } }

mod a { pub fn x() {} pub struct Y; }
mod b { pub fn x() {} }
use a::x;
use b::x;
use a::Y;
struct Y;
static LIMIT: i32 = 3;
fn assigns() { LIMIT = 4; }
fn argument(x: f32<i32>) {}
fn generic_argument<T>(x: T<f32>) {}
fn negative() {
    fn n<const N: usize>() -> usize { N }
    n::<-1>();
}
