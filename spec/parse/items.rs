#![allow(dead_code)]
//! The module's own documentation.

/// Adds two vectors.
/// "Quoted" and \escaped.
#[kernel]
#[launch_bounds(256, 2)]
#[launch_contract(domain = 1, block = (256, 1, 1), requires = (a.len() >= n, n > 0))]
pub fn vecadd(a: &[f32], mut c: DisjointSlice<f32>, n: usize) {}

#[cutile::module]
pub(crate) mod tiles {
    #![allow(unused)]
    use cutile::core::*;
    use cuda_device::{DisjointSlice, thread::{self, index_1d as index}, warp as _};
    pub use ::std::mem;
    use {a::b, c};
    use empty::{};

    #[cutile::entry(print_ir = false, optimization_hints = (sm_120 = (occupancy = 2, num_cta_in_cga = 1,),), preconditions = (dim(x, 0) == dim(y, 0), dim(x, 1) % 8 == 0))]
    unsafe fn entry<E: ElementType, const S: [i32; 2], const B: i32>(
        z: &mut Tensor<E, { [B, -1] }>,
        #[allow(unused_variables)] x: &Tensor<E, S>,
        p: *mut f32,
    ) where
        E: Copy,
    {
    }
}

mod outside;

const N: i32 = -1;
const _: () = ();
static TABLE: [u8; 3] = [1, 2, 3];
static mut TILE: SharedArray<[f32; 33], 32> = SharedArray::UNINIT;
type Row<'a, T = f32> = &'a [T];

pub struct Unit;
struct Pair<T, U = T>(pub T, U)
where
    T: Copy;
#[repr(C)]
#[derive(Clone, Copy)]
struct Point<'a, const N: usize = 3> {
    /// The coordinates.
    pub at: [f32; N],
    name: &'a str,
    r#type: u8,
}
union Bits {
    f: f32,
    u: u32,
}
enum Shape {
    Empty,
    /// With a radius.
    Circle(f32),
    Rect { w: f32, h: f32 },
    Last = 7,
}

unsafe trait Scan<T>: Copy + 'static {
    const IDENTITY: T;
    type Item<'a>: Clone
    where
        Self: 'a;
    fn step(&self, a: T, b: T) -> T;
    fn twice(self: Self) -> Self {
        self
    }
}

impl<T> Scan<T> for Pair<T>
where
    for<'a> &'a T: Add<T, Output = T>,
    T: Copy,
{
    const IDENTITY: T = T::ZERO;
    fn step<'s>(&'s mut self, a: T, b: T) -> T {
        a + b
    }
}
impl !Send for Unit {}
fn bound_of_nothing(x: Row<T:>) {}
unsafe impl Sync for Unit {}

#[device]
unsafe extern "C" {
    #[convergent]
    fn vprintf(format: *const u8, args: *const ()) -> i32;
    safe fn lane() -> u32;
    static CLOCK: u64;
}
pub const unsafe extern "C" fn callback(f: extern "C" fn(i32) -> i32, g: for<'a> fn(&'a i32)) -> ! {
    loop {}
}

fn bounds<F>(f: F, g: impl Fn(f32, f32) -> f32 + Copy, h: &(dyn Shape + 'static), i: &dyn Any)
where
    F: for<'a> FnMut(&'a mut f32) -> Option<&'a f32> + ?Sized,
    'a: 'b,
{
}
fn iterate(it: impl Iterator<Item = u32>) -> <Self as Iterator>::Item {}
fn nested(a: Vec<Vec<Vec<u8>>>, b: Option<&&T>, c: (), d: (u8,), e: [[f32; 4]; { N * 2 }], f: _) {}

macro_rules! square {
    ($x:expr) => {
        $x * $x // both
    };
}
thread_local! {
    static X: u8 = 1;
}
make_kernels!(f32, f64);
