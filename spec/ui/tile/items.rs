// What stands in a tile module.
#[cutile::module]
mod outside { mod inner; use cutile::core::*; }
#[cutile::module]
mod names {
    use cutile::core::*;
    mod a { pub fn f() {} }
    mod b { pub fn f() {} }
    #[cutile::entry]
    fn k(z: &mut Tensor<f32, {[4]}>) { f(); a::f(); b::f(); }
}
#[cutile::module]
mod statics {
    use cutile::core::*;
    static TABLE: Global<f32, {[4]}> = Global::new(0.0);
    static COUNT: Global<i32, {[]}> = Global::new(0);
    #[cutile::entry]
    fn k() { let (v, t) = COUNT.load(ordering::Acquire, scope::Device); }
    fn k() {}
}
// Functions of modules below are named where they can be reached.
mod deep { pub mod er { pub fn half(x: i32) -> i32 { x / 2 } } mod closed { pub fn third() {} } fn hidden() {} }
fn reaches(n: i32) -> i32 { hidden(); third(); half(n) }
