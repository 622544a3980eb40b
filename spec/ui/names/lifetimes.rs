// Lifetimes as declared.
struct Fine<'a> { next: &'a f32 }
struct Row { x: &f32 }
struct Rows { x: Fine, y: [Fine; 2] }
fn first(x: &f32, y: &f32) -> &f32 { x }
fn none() -> &f32 { loop {} }
fn row(x: f32) -> Fine { loop {} }
fn one(x: &f32) -> &f32 { x }
fn undeclared(x: &'b f32) -> &'b f32 { x }
fn declared<'a, F: for<'c> Fn(&'c f32) -> f32>(x: &'a f32, f: F) -> &'static str { "" }
impl Fine<'c> { fn h(&self) {} }
