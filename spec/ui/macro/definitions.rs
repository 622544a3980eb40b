macro_rules! a { ($x:expr + $y:expr) => {}; }
macro_rules! b { ($x:foo) => {}; }
macro_rules! c { ($x) => {}; }
macro_rules! d { ($x:expr, $x:expr) => {}; }
macro_rules! e { ($($x:vis)*) => {}; }
macro_rules! f { ($($x:expr)x) => {}; }
macro_rules! g { ($($x:expr),?) => {}; }
macro_rules! h { ($x:expr) => $x; }
macro_rules! i { $x:expr => {} }
macro_rules! j { ($x:expr) = {} }
macro_rules! k { }
macro_rules! l { ($($x:ty)* ) => {}; }
macro_rules! m { ($x:pat | $y:pat) => {}; }
macro_rules! n { ($($x:expr)* [$y:expr]) => {}; }
macro_rules! o { ($) => {}; }
macro_rules! p { ($a:expr) => { $($a),* }; }
