// Bounds, associated types and constants, impls for own and built-in types.
trait Area {
    const SIDES: i32;
    type Unit;
    fn area(&self) -> f32;
    fn double(&self) -> f32 { self.area() * 2.0 }
}
#[derive(Clone, Copy)]
struct Square { side: f32 }
impl Area for Square {
    const SIDES: i32 = 4;
    type Unit = f32;
    fn area(&self) -> f32 { self.side * self.side }
}
impl Area for f32 {
    const SIDES: i32 = 0;
    type Unit = f32;
    fn area(&self) -> f32 { *self }
}
impl Square {
    fn new(side: f32) -> Self { Square { side } }
    fn grow(&mut self, by: f32) { self.side += by; }
}
fn total<A: Area, B: Area>(a: &A, b: &B) -> f32 { a.double() + b.area() + A::SIDES as f32 }
fn unit(x: <Square as Area>::Unit) -> f32 { x }
fn use_all() -> f32 {
    let mut s = Square::new(2.0);
    s.grow(1.0);
    total(&s, &1.5f32) + unit(1.0) + Square::SIDES as f32 + Area::double(&s)
}
fn product<T: core::ops::Mul<Output = T> + Copy>(a: T, b: T) -> T { a * b * a }
fn products() -> f32 { product(2.0f32, 3.0) + product(2i32, 3) as f32 }
fn apply<F: Fn(f32) -> f32>(f: F, x: f32) -> f32 { f(x) }
fn implied(f: impl Fn(f32) -> f32) -> f32 { f(1.0) + apply(|x| x + 1.0, 2.0) }
