const N = 3;
static S;
pub let x = 3;
foo bar;
fn f(x: *f32, y: &dyn A + B) {}
impl i32 for f32 {}
impl &T for f32 {}
use a::;
type T = ;
trait T { fn f() }
