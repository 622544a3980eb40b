// A type that nothing decides is told whatever is wrong with other functions.
fn wrong() -> i32 {
    true
}
fn unknown() {
    let x = None;
}
fn wrong_and_unknown() -> i32 {
    let x = None;
    true
}
