// Doubling at each step ends at the limit of tokens, long before memory does.
macro_rules! double { ($($t:tt)*) => { double!($($t)* $($t)*) }; }
fn f() -> i32 { double!(1) }
