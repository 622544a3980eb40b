struct M<'a> { p: &'a mut i32 }
struct P(i32);
impl P { fn get<'a>(&'a mut self) -> M<'a> { M { p: &mut self.0 } } }
fn made(z: &mut P) -> M { z.get() }
fn made2<'a>(z: &'a mut P) -> M<'a> { z.get() }
fn refd(z: &mut P) -> &mut i32 { &mut z.0 }
fn by_helper(z: &mut P) {
    let mut a = made(z);
    let mut b = made(z);
    *a.p = 1;
}
fn by_helper2(z: &mut P) {
    let mut a = made2(z);
    let mut b = made2(z);
    *a.p = 1;
}
fn by_helper3(z: &mut P) {
    let mut a = refd(z);
    let mut b = refd(z);
    *a = 1;
}
