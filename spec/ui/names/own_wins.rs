// A user's own item wins over the preludes, and both tracks' names are in scope.
struct Shape { sides: i32 }
fn sides(s: Shape) -> i32 { s.sides }
fn exp(x: f32) -> f32 { x }
fn twice(x: f32) -> f32 { exp(x) + x.exp() }
mod outer {
    pub const N: i32 = 4;
    pub mod inner {
        use super::*;
        pub fn f(x: [f32; N as usize]) -> f32 { x[0] }
        pub fn g(x: [f32; super::N]) -> f32 { self::f(x) + crate::outer::inner::f(x) }
    }
    pub use inner::f as renamed;
}
use outer::{inner::{self, g}, renamed};
fn paths(x: [f32; 4]) -> f32 { inner::f(x) + g(x) + renamed(x) + outer::inner::f(x) }
fn both<const B: i32>(x: Tile<f32, {[B]}>) -> Tile<f32, {[B]}> { x }
fn simt(x: &mut DisjointSlice<f32>) -> usize { x.len() }
fn nested() -> i32 {
    const K: i32 = 3;
    fn inner() -> i32 { K }
    use outer::N;
    inner() + N + K
}
fn limits() -> f32 { i32::MAX as f32 + f32::EPSILON + core::f32::consts::PI + <f32 as ElementType>::ZERO }
fn zero<T: ElementType>() -> T { T::ZERO }
type Row<const N: usize> = [f32; N];
fn row(r: &Row<4>) -> f32 { r[0] }
