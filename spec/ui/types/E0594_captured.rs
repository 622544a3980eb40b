// A closure changes only what is declared as mutable.
struct P { a: i32 }
fn whole(n: i32) {
    let mut g = || n = 1;
    g();
}
fn part(p: P) {
    let mut g = || p.a += 1;
    g();
}
