// Traits of core::ops that are not there.
struct P { x: f32 }
impl core::ops::AddAssign for P { fn add_assign(&mut self, o: P) {} }
impl core::ops::Index<usize> for P { type Output = f32; fn index(&self, i: usize) -> &f32 { &self.x } }
fn f(mut p: P, q: P) { p += q; }
use core::ops::MulAssign;
impl MulAssign for P { fn mul_assign(&mut self, o: P) {} }
