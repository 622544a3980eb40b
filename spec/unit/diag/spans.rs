fn foo(a: i32) {}
fn f(n: i32) {
    let x = if n == 1 {
        let a = 1;
        let b = 2;
        let c = 3;
        let d = 4;
        let e = 5;
        1
    } else {
        "a"
    };
    foo(1, {
        let a = 1;
        a
    }, "x");
    foo(match n {
        1 => 2,
        _ => 3,
    }, {
        4;
        5
    });
    let y: i32 = if n == 1 {
        let a = 1;
        let b = 2;
        let c = 3;
        let d = 4;
        let e = 5;
        let g = 6;
        ()
    };
}
fn main() {}
