// Bounds of what declarations name, traits against their impls.
struct S;
struct W<T>(T);
struct Bounded<T: Copy> { x: T }
fn unmet(x: Bounded<S>) {}
struct HoldsUnmet { x: Bounded<S> }
fn literal() { let x = Bounded { x: S }; }

trait Shape { const N: usize; const fn area() -> f32; }
impl Shape for S { const N: i32 = 3; pub fn area() -> f32 { 1.0 } }
trait Solid: Shape {}
impl Solid for W<f32> {}
