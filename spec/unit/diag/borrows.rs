struct T(String);
fn take(s: T) {}
fn g<'a>(x: &'a mut T, y: &'a mut T) {}
fn main() {
    let n = 5;
    n = 6;
    let mut t = T(String::new());
    g(&mut t, &mut t);
    let s = String::new();
    let c = || {
        let z = s;



        let w = 3;
        1
    };
    println!("{}", s);
    let a = String::from("a"); let b = a; let d = a;
    let q = &t;
    let p = std::mem::replace(
        &mut t,
        T(String::new()),
    );
    take(*q);
}
