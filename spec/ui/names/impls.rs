trait Area {
    fn area(&self, unit: f32) -> f32;
    fn named<T>(x: T) -> T;
    fn count() -> i32;
    fn same(&self, other: Self) -> Self;
}
struct A;
struct B;
impl Area for A {
    fn area(&self) -> f32 { 1.0 }
    fn named(x: i32) -> i32 { x }
    fn count(&self) -> i32 { 1 }
    fn same(&self, other: B) -> A { A }
}
impl Area for B {
    fn area(&self, unit: i32) -> f32 { 1.0 }
    fn named<U>(x: U) -> U { x }
    fn count() -> i32 { 1 }
    fn same(other: B) -> B { other }
}
impl f32 { fn half(self) -> f32 { self / 2.0 } }
impl A { fn f() {} }
impl A { fn f() {} }
struct Pair<T> { a: T }
impl<T> Pair<T> { fn g(&self) {} }
impl Pair<f32> { fn g(&self) {} }
impl Pair<i32> { fn h(&self) {} }
impl Pair<u32> { fn h(&self) {} }
trait Named {}
impl<T> Named for Pair<T> {}
impl Named for Pair<f32> {}
