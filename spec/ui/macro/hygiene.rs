// Locals and labels belong to whoever wrote them.
macro_rules! outside { ($x:expr) => { $x + base }; }
macro_rules! inside { ($e:expr) => {{ let t = 1; $e + t }}; }
macro_rules! given { ($t:ident, $e:expr) => {{ let $t = 1; $e + $t }}; }
macro_rules! label { ($e:expr) => { 'a: loop { $e } }; }
macro_rules! receiver { () => { self.0 }; }
macro_rules! declare { () => { let hidden = 3; }; }
macro_rules! declare_as { ($x:ident) => { let $x = 3; }; }
struct S(i32);
impl S { fn get(&self) -> i32 { receiver!() } }
fn a() -> i32 { let base = 1; outside!(2) + base }
fn b() -> i32 { inside!(t) }
fn c() -> i32 { given!(t, t) }
fn d() { label!(break 'a); }
fn e() -> i32 { declare!(); hidden }
fn g() -> i32 { declare_as!(shown); shown }
fn h() -> i32 { let t = 5; inside!(t) }
fn i() -> i32 {
    let base = 10;
    macro_rules! here { ($x:expr) => { $x + base }; }
    let base = 2.5;
    here!(1)
}
