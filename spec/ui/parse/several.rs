fn f() {
    let x = a b;
    let y: = 3;
    g(1 2);
    1 +;
    ok(x);
}
struct S {
    a: i32;
    b: ,
    c: f32
    d: f32,
}
enum E {
    A(,
    ),
    B = ,
}
fn g(x, y: f32) {}
fn (a: i32) {}
impl {}
fn last() {
    match x {
        1 => ,
        2 3 => 4,
        _ => 5,
    }
}
