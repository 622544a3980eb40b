use std::ops::Add;
#[derive(Clone, Copy)]
struct W(f32);
impl Add for W {
    type Output = W;
    fn add(self, o: W) -> W { W(self.0 - o.0) }
}
fn f(a: W, b: W) -> W {
    a + b
}
