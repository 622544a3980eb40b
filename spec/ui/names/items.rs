mod elsewhere;
macro_rules! mine { () => {} }
union Bits { i: i32, f: f32 }
extern "C" { fn puts(x: i32); }
fn receiver(self) {}
fn pointer(f: fn(i32) -> i32) {}
fn object(x: &dyn Clone) {}
fn opaque() -> impl Clone { 1 }
