mod m {
    pub struct P { x: f32, pub y: f32 }
    impl P {
        pub fn new() -> P { P { x: 1.0, y: 2.0 } }
        fn hidden(&self) -> f32 { self.x }
        fn made() -> P { P::new() }
    }
    pub struct T(f32, pub f32);
    pub mod inner {
        pub fn sees(p: &super::P) -> f32 { p.x + p.hidden() }
    }
}
fn field(p: m::P) -> f32 { p.y + p.x }
fn through(p: &m::P) -> f32 { p.x }
fn literal() -> m::P { m::P { x: 1.0, y: 2.0 } }
fn pattern(p: m::P) -> f32 { let m::P { x, y } = p; x + y }
fn method(p: m::P) -> f32 { p.hidden() }
fn function() -> m::P { m::P::made() }
fn tuple() -> m::T { m::T(1.0, 2.0) }
fn tuple_field(t: m::T) -> f32 { t.1 + t.0 }
