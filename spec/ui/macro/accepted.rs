macro_rules! add { ($a:expr, $b:expr) => { $a + $b }; }
macro_rules! square { ($a:expr) => { $a * $a }; }
macro_rules! swap { ($a:ident, $b:ident) => { let t = $a; $a = $b; $b = t; }; }
macro_rules! make_fn { ($(#[$m:meta])* $v:vis fn $name:ident($($p:ident: $t:ty),* $(,)?) -> $r:ty = $e:expr) => {
    $(#[$m])* $v fn $name($($p: $t),*) -> $r { $e }
}; }
macro_rules! sum { () => { 0 }; ($h:expr $(, $t:expr)*) => { $h + sum!($($t),*) }; }
macro_rules! matrix { ($([$($x:expr),*]),*) => { [$([$($x),*]),*] }; }
macro_rules! maxi { ($x:expr) => ($x); ($x:expr, $($y:expr),+) => {{ let a = $x; let b = maxi!($($y),+); if a > b { a } else { b } }}; }
macro_rules! ty { ($t:ty) => { $t }; }
macro_rules! small { () => { 0 | 1 | 2 }; }
macro_rules! impl_scale { ($($t:ty => $k:literal),* $(,)?) => { $( impl Scale for $t { fn scale(self) -> $t { self * $k } } )* }; }
macro_rules! blk { ($b:block) => { $b }; }
macro_rules! lp { ($l:lifetime, $e:expr) => { $l: loop { if $e { break $l; } } }; }
macro_rules! consts { ($($n:ident = $e:expr;)*) => { $( const $n: i32 = $e; )* }; }
macro_rules! call { ($f:path, $($a:expr),*) => { $f($($a),*) }; }
macro_rules! pat { ($p:pat => $e:expr, $v:expr) => { match $v { $p => $e, _ => 0 } }; }
macro_rules! tts { ($($t:tt)*) => { $($t)* }; }
macro_rules! opt { ($a:expr $(; $b:expr)?) => { $a $(+ $b)? }; }
pub trait Scale { fn scale(self) -> Self; }
impl_scale! { i32 => 2, f32 => 2.0, }
make_fn! { /// doubles
 #[inline] pub fn double(x: i32,) -> i32 = x + x }
consts! { ONE = 1; TWO = ONE + 1; }
mod inner { pub fn three() -> i32 { 3 } }
pub fn f(a: i32, b: i32) -> i32 {
    let mut x = a;
    let mut y = b;
    let t = 7;
    swap!(x, y);
    let q = add!(x, y) * square!(1 + 2) + t;
    let m = matrix!([1, 2], [3, 4]);
    let z: ty!(i32) = sum!(1, 2, 3, x);
    let k = match z { small!() => 1, _ => 2 };
    let w = blk!({ let u = 3; u * 2 });
    let mut n = 0;
    lp!('a, { n += 1; n > 3 });
    let c = call!(inner::three,);
    let p = pat!(1 | 2 => 5, z);
    tts! { let d = double(4); let e = d + ONE + TWO; }
    let o = opt!(1; 2) + opt!(3);
    maxi!(q, m[0][1], z, k) + w + c + p + e + o + y.scale()
}
pub fn g() -> i32 {
    macro_rules! local { ($x:expr) => { $x + base }; }
    fn helper() -> i32 { 3 }
    helper()
}
pub fn h() -> i32 {
    let base = 10;
    macro_rules! local { ($x:expr) => { $x + base }; }
    let base = 20;
    let r = local!(base);
    r
}
pub fn i() -> i32 {
    macro_rules! using { ($x:ident, $e:expr) => {{ let $x = 4; $e }}; }
    using!(v, v + 1)
}
pub fn j(n: i32) -> i32 {
    macro_rules! ret { ($e:expr) => { return $e }; }
    macro_rules! iff { ($c:expr => $b:block) => { if $c $b }; }
    iff!(n > 1 => { ret!(3) });
    tts!(5 + 1)
}
macro_rules! def_mac { ($name:ident, $v:expr) => { macro_rules! $name { () => { $v }; } }; }
def_mac!(nine, 9);
pub fn k() -> i32 { nine!() }
#[macro_use] mod mm { macro_rules! from_mm { () => { 1 }; } pub fn z() -> i32 { from_mm!() } }
pub fn l() -> i32 { from_mm!() }
mod vis { macro_rules! private_m { ($a:ident) => { $a + 1 }; } pub(crate) use private_m; }
pub fn n(a: i32) -> i32 { vis::private_m!(a) }
macro_rules! strct { ($n:ident { $($f:ident : $t:ty),* }) => { pub struct $n { pub $($f: $t),* } impl $n { pub fn total(&self) -> i32 { 0 $(+ self.$f)* } } }; }
strct!(P { a: i32, b: i32 });
pub fn o() -> i32 { P { a: 1, b: 2 }.total() }
macro_rules! item_in { ($i:item) => { $i }; }
item_in! { pub fn from_item() -> i32 { 8 } }
macro_rules! st { ($s:stmt) => { $s; }; }
pub fn p() -> i32 { st!(let a = 3); a }
