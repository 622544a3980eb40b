fn f() {
    #![allow(unused)]
    let x = 1;
    #![late]
    let y = 2;
    /// lost
}
struct S {
    a: i32,
    /// lost too
}
pub
fn_missing!();
#[tile]
