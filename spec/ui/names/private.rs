use candle::*;
mod m {
    fn hidden() {}
    pub fn shown() { hidden(); self::hidden(); inner::f() }
    pub mod inner { pub fn f() { super::hidden() } }
    struct S;
}
use m::S;
fn f() { m::hidden(); m::shown(); m::inner::f() }
fn g(x: Thing) {}
