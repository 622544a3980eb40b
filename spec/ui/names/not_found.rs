fn unknown_type(x: f33) {}
fn unknown_generic(x: Foo<i32>) {}
fn near_own(a: Vec3) {}
struct Vec2 { x: f32, y: f32 }
fn unknown_trait<T: FloatElment>(x: T) {}
fn unknown_module() -> u32 { threads::threadIdx_x() }
fn unknown_in_module() -> u32 { thread::threadIdx_w() }
fn unknown_type_path() -> i32 { Foo::new() }
fn unknown_assoc() -> i32 { i32::BIGGEST }
fn unknown_variant() -> Side { Side::Middle }
enum Side { Left, Right }
const N: i32 = M;
fn unknown_extent(x: &Tensor<f32, {[BLOCK]}>) {}
fn no_self(x: Self) {}
