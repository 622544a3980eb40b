// Overflow of what constants say. A condition may ask of a constant before it is used.
const TOP: i32 = i32::MAX + 1;
const BEHIND: i32 = TOP - 1;
const ALL: u32 = u32::MAX;
const MORE: u32 = ALL + 1;
const LESS: u32 = 0 - 1;
const NONE: usize = 4 / 0;
const LOOP_A: i32 = LOOP_B + 1;
const LOOP_B: i32 = LOOP_A + 1;
const ZERO: i32 = 0;
const SAFE: i32 = if ZERO != 0 { 5 / ZERO } else { 0 };
struct S;
impl S {
    const K: i64 = i64::MAX;
    const L: i64 = Self::K * 2;
}
trait Width { const N: usize = 9; }
fn widths<W: Width>(a: [f32; 4]) -> f32 { a[W::N] }
fn body(n: i32) -> i32 {
    let a = i32::MAX + 1;
    let b = u8::MIN - 1;
    let c = -i32::MIN;
    let d = -(-128i8);
    let e = -128i8;
    if ZERO != 0 { n / ZERO } else { n }
}
const EARLY: u32 = LATE + 1;
const LATE: u32 = u32::MAX;
