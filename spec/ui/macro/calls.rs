// Calls that fit no rule, limits, and expansions that do not parse where they stand.
macro_rules! add { ($a:expr, $b:expr) => { $a + $b }; }
macro_rules! statements { ($a:expr) => { let x = 1; $a + x }; }
macro_rules! pairs { ($($a:expr),* ; $($b:expr),*) => { $( f($a, $b); )* }; }
macro_rules! empty { () => {} }
macro_rules! semicolon { () => { 1; }; }
macro_rules! extra { () => { 1 2 } }
macro_rules! again { ($e:expr) => { ident!($e) }; }
macro_rules! ident { ($i:ident) => { $i }; }
macro_rules! repeated { ($($x:expr),*) => { $x }; }
macro_rules! once { ($($x:expr),*) => { $($x)+ }; }
macro_rules! ambiguous { ($($i:ident)* $j:ident) => {}; }
fn f(a: i32, b: i32) {}
fn calls() {
    add!(1);
    add!(1, 2, 3);
    add!();
    add!(1 2);
    let _ = add!(1, +);
    pairs!(1, 2; 3);
    let x = empty!();
    let y = extra!();
    let z: i32 = semicolon!();
    again!(z);
    repeated!(1);
    once!();
    let w = { statements!(1) };
}
ambiguous!(a b);
