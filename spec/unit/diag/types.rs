fn f(n: i32) -> i32 {
    match n {
        1 => "a",
        2 => 5,
        _ => 7,
    };
    let t: i32 = if n == 1 {
        let a = 1;
        let b = 2;
        let c = 3;

        let d = 4;
        let e = 4;
        a + b + c;
    } else { 3 };
    let q = foo(1, 2
        , 3);
}
fn foo(a: i32) {}
fn h() -> u8 { 1i32 }
fn main() {
    let é = 1; let ü: &str = é; let 日本 = ü; 日本 = 5;
	let u = 1; let		y: &str = u;
    let x: u32 = 1 + 1.0;
}
