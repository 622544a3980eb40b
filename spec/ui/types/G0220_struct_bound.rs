use std::ops::Add;
#[derive(Clone, Copy)]
struct W(f32);
impl Add for W {
    type Output = W;
    fn add(self, o: W) -> W { W(self.0 - o.0) }
}
fn twice<T: Add<Output = T> + Copy>(a: T) -> T { a + a }
fn f(a: W) -> W {
    twice(a)
}
