// Closures that change what they captured; FnMut and FnOnce as they are called.
pub struct P(i32);
impl P { fn poke(&mut self) -> i32 { 0 } }
pub fn apply<F: Fn(i32) -> i32>(f: F) -> i32 { f(1) }
pub fn apply_mut<F: FnMut(i32) -> i32>(mut f: F) -> i32 { f(1) + f(2) }

pub fn changes(mut n: i32) -> i32 {
    let mut g = |x: i32| n += x;
    g(1);
    g(2);
    n
}
pub fn passed(mut n: i32, mut p: P) -> i32 {
    apply_mut(|x| { n += x; n }) + apply_mut(|x| x + p.poke())
}
pub fn through(n: &mut i32) -> i32 { apply_mut(|x| { *n += x; *n }) }
pub fn part(mut p: (i32, i32)) -> i32 {
    let mut g = || p.0 = 1;
    p.1 = 2;
    g();
    p.0
}
pub fn element(mut a: [i32; 4]) -> i32 {
    let mut g = |i: usize| a[i] = 1;
    g(0);
    a[0]
}
pub fn one_after_other(mut n: i32) -> i32 {
    let mut g = || n += 1;
    g();
    let mut h = || n *= 2;
    h();
    n
}
pub fn inner(mut n: i32) -> i32 {
    let mut g = || { let mut h = || n = 3; h(); };
    g();
    n
}
pub fn of_impl(mut f: impl FnMut(i32) -> i32) -> i32 { f(1) + f(2) }

pub fn not_mut(mut p: P) -> i32 {
    let c = || p.poke();
    c()
}
pub fn not_mut_inside(mut n: i32) {
    let mut g = || { let h = || n = 3; h(); };
    g();
}
pub fn not_mut_param<F: FnMut(i32) -> i32>(f: F) -> i32 { f(1) }
pub fn not_mut_where<F>(f: F) -> i32 where F: FnMut(i32) -> i32 { f(1) }
pub fn once<F: FnOnce(i32) -> i32>(f: F) -> i32 { f(1) + f(2) }
pub fn borrows(mut p: P) -> i32 { apply(|x| x + p.poke()) }
pub fn assigns(mut n: i32) -> i32 { apply(|x| { n += x; n }) }
pub fn assigns_through(n: &mut i32) -> i32 { apply(|x| { *n += x; *n }) }
pub fn inner_of_fn(mut n: i32) -> i32 { apply(|x| { let mut g = || n += x; g(); n }) }
pub fn used_between(mut n: i32) {
    let mut g = |x: i32| n += x;
    g(1);
    n += 1;
    g(2);
}
pub fn read_between(mut n: i32) -> i32 {
    let mut g = || n += 1;
    let r = &n;
    g();
    *r
}
pub fn two(mut n: i32) {
    let mut g = || n += 1;
    let mut h = || n *= 2;
    g();
    h();
}
