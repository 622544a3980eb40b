fn f() {
    let x = 1
    let y = 2;
    g(x)
    h(y);
    let z = 3
}
const N: i32 = 4
fn g() {}
