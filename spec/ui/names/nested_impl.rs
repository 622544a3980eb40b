use core::ops::Add;
struct W(f32);
impl Add for W {
    type Output = W;
    fn add(self, o: W) -> W { o }
    impl Add for W { type Output = W; }
    const _: i32 = 1;
}
