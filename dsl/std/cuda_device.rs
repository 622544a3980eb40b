// The SIMT track: cuda_device.

pub mod prelude {
    pub use crate::thread;
    pub use crate::{DisjointSlice, Index1D, ThreadIndex};
}

pub use disjoint::DisjointSlice;
pub use thread::{Index1D, ThreadIndex};

pub mod disjoint {
    use crate::thread::{Index1D, ThreadIndex};

    #[lang = "DisjointSlice"]
    pub struct DisjointSlice<T, I = Index1D> {}

    impl<T, I> DisjointSlice<T, I> {
        #[intrinsic = "DisjointGetMut"]
        pub fn get_mut(&mut self, index: ThreadIndex<I>) -> Option<&mut T>;
        #[intrinsic = "DisjointGetUnchecked"]
        pub unsafe fn get_unchecked_mut(&mut self, index: usize) -> &mut T;
        #[intrinsic = "DisjointLen"]
        pub fn len(&self) -> usize;
        #[intrinsic = "DisjointIsEmpty"]
        pub fn is_empty(&self) -> bool;
    }
}

pub mod thread {
    #[lang = "Index1D"]
    #[derive(Clone, Copy)]
    pub struct Index1D;

    // The witness that an index is this thread's own. It is no Copy: what takes it uses it up.
    #[lang = "ThreadIndex"]
    pub struct ThreadIndex<I = Index1D> {}

    impl<I> ThreadIndex<I> {
        #[intrinsic = "ThreadIndexGet"]
        pub fn get(&self) -> usize;
        #[intrinsic = "ThreadIndexInBounds"]
        pub fn in_bounds(&self, len: usize) -> bool;
    }

    #[intrinsic = "ThreadIndex1D"]
    pub fn index_1d() -> ThreadIndex<Index1D>;

    #[intrinsic = "ThreadAxis"]
    pub fn threadIdx_x() -> u32;
    #[intrinsic = "ThreadAxis"]
    pub fn threadIdx_y() -> u32;
    #[intrinsic = "ThreadAxis"]
    pub fn threadIdx_z() -> u32;
    #[intrinsic = "ThreadAxis"]
    pub fn blockIdx_x() -> u32;
    #[intrinsic = "ThreadAxis"]
    pub fn blockIdx_y() -> u32;
    #[intrinsic = "ThreadAxis"]
    pub fn blockIdx_z() -> u32;
    #[intrinsic = "ThreadAxis"]
    pub fn blockDim_x() -> u32;
    #[intrinsic = "ThreadAxis"]
    pub fn blockDim_y() -> u32;
    #[intrinsic = "ThreadAxis"]
    pub fn blockDim_z() -> u32;
    #[intrinsic = "ThreadAxis"]
    pub fn gridDim_x() -> u32;
    #[intrinsic = "ThreadAxis"]
    pub fn gridDim_y() -> u32;
    #[intrinsic = "ThreadAxis"]
    pub fn gridDim_z() -> u32;
}
