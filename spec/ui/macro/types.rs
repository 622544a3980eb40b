// Errors in what a macro wrote point into it and name the call.
macro_rules! wrong { ($a:expr) => {{ let x: i32 = "a"; $a + x }}; }
macro_rules! typed { ($t:ty, $e:expr) => {{ let x: $t = $e; x }}; }
macro_rules! unfinished { ($o:expr) => { match $o { Some(x) => x } }; }
macro_rules! twice { ($n:ident) => { fn $n() {} fn $n() {} }; }
macro_rules! unknown { ($e:expr) => { nope!($e) }; }
fn f() -> i32 {
    wrong!(1) + wrong!(2)
}
fn g() -> f32 { typed!(f32, 1) }
fn h(o: Option<i32>) -> i32 { unfinished!(o) }
fn i() { unknown!(1); }
fn j() { later!(); }
macro_rules! later { () => {}; }
twice!(a);
