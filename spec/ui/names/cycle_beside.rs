// A constant that needs itself is told whatever is wrong elsewhere.
const A: i32 = B + 1;
const B: i32 = A;
fn wrong() -> i32 {
    true
}
