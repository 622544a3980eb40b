// What is called, matched or left with the wrong form.
enum E { A(f32), B { y: f32 }, C }
fn braces() -> E { E::B(1.0) }
fn pattern(e: E) -> f32 { match e { E::A(x) => x, E::B(y) => y, E::C => 0.0 } }
fn unknown_field() -> E { E::B { z: 1.0 } }
fn closure() { let c = |x: f32| x; c(1.0, 2.0); }
fn range(x: i32) -> i32 { match x { 5..=1 => 1, 3..3 => 2, -1..=1 => 3, _ => 0 } }
fn floats(x: f32) -> i32 { match x { 2.0..=1.5 => 1, _ => 0 } }
fn block() { loop { 'a: { break; } } }
fn enum_cast(e: Plain) -> f32 { e as f32 }
enum Plain { A, B }
fn array_field(a: [f32; 4]) -> f32 { a.0 }
impl f32 { fn half(self) -> f32 { self / 2.0 } }
impl Option<f32> { fn half(self) -> f32 { 0.5 } }
