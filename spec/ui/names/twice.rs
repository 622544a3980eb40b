struct S;
struct S;
fn f() {}
mod m { fn f() {} }
fn f() {}
fn g<T, const N: i32, T>(x: T) {}
struct P { x: f32, y: f32, x: f32 }
trait Area { fn area(&self) -> f32; fn twice(&self) -> f32 { 2.0 } const SIDES: i32; }
impl Area for P { fn aera(&self) -> f32 { 1.0 } type Unit = f32; }
