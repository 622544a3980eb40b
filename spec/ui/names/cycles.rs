// Constants that need their own values; E0391.
const A: i32 = B;
const B: i32 = A;

const OWN: f32 = 2.0 * OWN;

const FINE: i32 = LATER + LATER;
const LATER: i32 = 1;
fn uses() -> i32 { FINE + A }
