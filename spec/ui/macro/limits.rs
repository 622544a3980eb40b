// What expansion may cost.
macro_rules! recurse { ($a:expr) => { recurse!($a) }; }
fn f() -> i32 { recurse!(1) }
