// The listed part of core and std. Operators on built-in types are the compiler's own; the traits
// here are what bounds speak of.

pub mod prelude {
    pub use crate::marker::{Copy, Send, Sized, Sync};
    pub use crate::clone::Clone;
    pub use crate::ops::{Fn, FnMut, FnOnce};
    pub use crate::cmp::{PartialEq, PartialOrd};
    pub use crate::option::Option;
    pub use crate::option::Option::{None, Some};
    pub use crate::macros::*;
}

pub mod macros {
    macro_rules! assert {}
    macro_rules! assert_eq {}
    macro_rules! assert_ne {}
    macro_rules! debug_assert {}
    macro_rules! debug_assert_eq {}
    macro_rules! debug_assert_ne {}
    macro_rules! panic {}
    macro_rules! unreachable {}
    macro_rules! todo {}
    macro_rules! unimplemented {}
}

pub mod marker {
    #[lang = "Copy"]
    pub trait Copy: crate::clone::Clone {}
    // Nothing asks these of a type yet, so every type has them.
    pub trait Sized {}
    pub trait Send {}
    pub trait Sync {}
    impl<T> Sized for T {}
    impl<T> Send for T {}
    impl<T> Sync for T {}
}

pub mod clone {
    #[lang = "Clone"]
    pub trait Clone {
        #[intrinsic = "CloneValue"]
        fn clone(&self) -> Self;
    }
}

pub mod cmp {
    pub trait PartialEq {}
    pub trait PartialOrd {}

    impl PartialEq for bool {}
    impl PartialOrd for bool {}
    impl PartialEq for char {}
    impl PartialOrd for char {}

    #[intrinsic(NumMinMax, "min")]
    pub fn min<T: crate::num::Int>(a: T, b: T) -> T;
    #[intrinsic(NumMinMax, "max")]
    pub fn max<T: crate::num::Int>(a: T, b: T) -> T;
}

pub mod ops {
    #[lang = "Fn"]
    pub trait Fn {}
    pub use Fn as FnMut;
    pub use Fn as FnOnce;

    #[lang = "Range"]
    #[derive(Clone)]
    pub struct Range<Idx> {
        pub start: Idx,
        pub end: Idx,
    }

    #[lang = "Add"]
    pub trait Add<Rhs = Self> {
        type Output;
        fn add(self, rhs: Rhs) -> Self::Output;
    }
    #[lang = "Sub"]
    pub trait Sub<Rhs = Self> {
        type Output;
        fn sub(self, rhs: Rhs) -> Self::Output;
    }
    #[lang = "Mul"]
    pub trait Mul<Rhs = Self> {
        type Output;
        fn mul(self, rhs: Rhs) -> Self::Output;
    }
    #[lang = "Div"]
    pub trait Div<Rhs = Self> {
        type Output;
        fn div(self, rhs: Rhs) -> Self::Output;
    }
    #[lang = "Rem"]
    pub trait Rem<Rhs = Self> {
        type Output;
        fn rem(self, rhs: Rhs) -> Self::Output;
    }
    #[lang = "BitAnd"]
    pub trait BitAnd<Rhs = Self> {
        type Output;
        fn bitand(self, rhs: Rhs) -> Self::Output;
    }
    #[lang = "BitOr"]
    pub trait BitOr<Rhs = Self> {
        type Output;
        fn bitor(self, rhs: Rhs) -> Self::Output;
    }
    #[lang = "BitXor"]
    pub trait BitXor<Rhs = Self> {
        type Output;
        fn bitxor(self, rhs: Rhs) -> Self::Output;
    }
    #[lang = "Shl"]
    pub trait Shl<Rhs = Self> {
        type Output;
        fn shl(self, rhs: Rhs) -> Self::Output;
    }
    #[lang = "Shr"]
    pub trait Shr<Rhs = Self> {
        type Output;
        fn shr(self, rhs: Rhs) -> Self::Output;
    }
    #[lang = "Neg"]
    pub trait Neg {
        type Output;
        fn neg(self) -> Self::Output;
    }
    #[lang = "Not"]
    pub trait Not {
        type Output;
        fn not(self) -> Self::Output;
    }
}

pub mod option {
    #[lang = "Option"]
    #[derive(Clone, Copy)]
    pub enum Option<T> {
        None,
        Some(T),
    }

    impl<T> Option<T> {
        #[intrinsic = "OptionIsSome"]
        pub fn is_some(&self) -> bool;
        #[intrinsic = "OptionIsSome"]
        pub fn is_none(&self) -> bool;
        #[intrinsic = "OptionUnwrap"]
        pub fn unwrap(self) -> T;
        #[intrinsic = "OptionUnwrap"]
        pub fn expect(self, msg: &str) -> T;
        #[intrinsic = "OptionUnwrap"]
        pub fn unwrap_or(self, default: T) -> T;
    }
}

pub mod num {
    // Integer types and the four float types with arithmetic of their own.
    pub trait Int: crate::marker::Copy {}
    pub trait Float: crate::marker::Copy {}
    impl Float for f64 {}
    impl Float for f32 {}
    impl Float for f16 {}
    impl Float for bf16 {}
}

impl<T: num::Int> T {
    #[intrinsic = "NumWrapping"]
    pub fn wrapping_add(self, rhs: T) -> T;
    #[intrinsic = "NumWrapping"]
    pub fn wrapping_sub(self, rhs: T) -> T;
    #[intrinsic = "NumWrapping"]
    pub fn wrapping_mul(self, rhs: T) -> T;
    #[intrinsic = "NumWrapping"]
    pub fn wrapping_neg(self) -> T;
    #[intrinsic = "NumMinMax"]
    pub fn min(self, other: T) -> T;
    #[intrinsic = "NumMinMax"]
    pub fn max(self, other: T) -> T;
    #[intrinsic = "NumMinMax"]
    pub fn clamp(self, min: T, max: T) -> T;
    #[intrinsic = "NumAbs"]
    pub fn abs(self) -> T;
    #[intrinsic = "NumSignum"]
    pub fn signum(self) -> T;
}

impl<T: num::Float> T {
    #[intrinsic = "NumMinMax"]
    pub fn min(self, other: T) -> T;
    #[intrinsic = "NumMinMax"]
    pub fn max(self, other: T) -> T;
    #[intrinsic = "NumMinMax"]
    pub fn clamp(self, min: T, max: T) -> T;
    #[intrinsic = "NumAbs"]
    pub fn abs(self) -> T;
    #[intrinsic = "NumMulAdd"]
    pub fn mul_add(self, a: T, b: T) -> T;
    #[intrinsic = "NumPowi"]
    pub fn powi(self, n: i32) -> T;
    #[intrinsic = "NumIsNan"]
    pub fn is_nan(self) -> bool;
}

impl f64 {
    pub const MAX: f64 = 1.7976931348623157e308;
    pub const MIN: f64 = -1.7976931348623157e308;
    pub const MIN_POSITIVE: f64 = 2.2250738585072014e-308;
    pub const EPSILON: f64 = 2.220446049250313e-16;
    pub const INFINITY: f64 = 1.0 / 0.0;
    pub const NEG_INFINITY: f64 = -1.0 / 0.0;
    pub const NAN: f64 = 0.0 / 0.0;
    #[intrinsic = "NumBits"]
    pub fn to_bits(self) -> u64;
    #[intrinsic = "NumBits"]
    pub fn from_bits(bits: u64) -> f64;
}

impl f32 {
    pub const MAX: f32 = 3.4028234663852886e38;
    pub const MIN: f32 = -3.4028234663852886e38;
    pub const MIN_POSITIVE: f32 = 1.1754943508222875e-38;
    pub const EPSILON: f32 = 1.1920928955078125e-7;
    pub const INFINITY: f32 = 1.0 / 0.0;
    pub const NEG_INFINITY: f32 = -1.0 / 0.0;
    pub const NAN: f32 = 0.0 / 0.0;
    pub const E: f32 = 2.7182818284590452354;
    #[intrinsic = "NumBits"]
    pub fn to_bits(self) -> u32;
    #[intrinsic = "NumBits"]
    pub fn from_bits(bits: u32) -> f32;
}

impl f16 {
    pub const MAX: f16 = 65504.0;
    pub const MIN: f16 = -65504.0;
    pub const MIN_POSITIVE: f16 = 0.00006103515625;
    pub const EPSILON: f16 = 0.0009765625;
    pub const INFINITY: f16 = 1.0 / 0.0;
    pub const NEG_INFINITY: f16 = -1.0 / 0.0;
    pub const NAN: f16 = 0.0 / 0.0;
    #[intrinsic = "NumBits"]
    pub fn to_bits(self) -> u16;
    #[intrinsic = "NumBits"]
    pub fn from_bits(bits: u16) -> f16;
}

impl bf16 {
    pub const MAX: bf16 = 3.3895313892515355e38;
    pub const MIN: bf16 = -3.3895313892515355e38;
    pub const MIN_POSITIVE: bf16 = 1.1754943508222875e-38;
    pub const EPSILON: bf16 = 0.0078125;
    pub const INFINITY: bf16 = 1.0 / 0.0;
    pub const NEG_INFINITY: bf16 = -1.0 / 0.0;
    pub const NAN: bf16 = 0.0 / 0.0;
    #[intrinsic = "NumBits"]
    pub fn to_bits(self) -> u16;
    #[intrinsic = "NumBits"]
    pub fn from_bits(bits: u16) -> bf16;
}

pub mod f32 {
    pub mod consts {
        pub const PI: f32 = 3.14159265358979323846;
        pub const TAU: f32 = 6.28318530717958647692;
        pub const E: f32 = 2.71828182845904523536;
        pub const LN_2: f32 = 0.693147180559945309417;
        pub const LN_10: f32 = 2.30258509299404568402;
        pub const LOG2_E: f32 = 1.44269504088896340736;
        pub const LOG10_E: f32 = 0.434294481903251827651;
        pub const SQRT_2: f32 = 1.41421356237309504880;
        pub const FRAC_1_SQRT_2: f32 = 0.707106781186547524400;
        pub const FRAC_PI_2: f32 = 1.57079632679489661923;
        pub const FRAC_PI_4: f32 = 0.785398163397448309616;
        pub const FRAC_1_PI: f32 = 0.318309886183790671538;
        pub const FRAC_2_PI: f32 = 0.636619772367581343076;
    }
}

pub mod f64 {
    pub mod consts {
        pub const PI: f64 = 3.14159265358979323846;
        pub const TAU: f64 = 6.28318530717958647692;
        pub const E: f64 = 2.71828182845904523536;
        pub const LN_2: f64 = 0.693147180559945309417;
        pub const LN_10: f64 = 2.30258509299404568402;
        pub const LOG2_E: f64 = 1.44269504088896340736;
        pub const LOG10_E: f64 = 0.434294481903251827651;
        pub const SQRT_2: f64 = 1.41421356237309504880;
        pub const FRAC_1_SQRT_2: f64 = 0.707106781186547524400;
        pub const FRAC_PI_2: f64 = 1.57079632679489661923;
        pub const FRAC_PI_4: f64 = 0.785398163397448309616;
        pub const FRAC_1_PI: f64 = 0.318309886183790671538;
        pub const FRAC_2_PI: f64 = 0.636619772367581343076;
    }
}

impl<T> [T] {
    #[intrinsic = "SliceLen"]
    pub fn len(&self) -> usize;
    #[intrinsic = "SliceIsEmpty"]
    pub fn is_empty(&self) -> bool;
    #[intrinsic = "SliceGet"]
    pub fn get(&self, index: usize) -> Option<&T>;
}
