// The peers' names as rustc needs them to judge moves and borrows: signatures only, and no more
// than spec/ui/borrow uses. Kernel attributes are dropped by oracle.lua before rustc sees them.
#![allow(unused, dead_code, non_snake_case, static_mut_refs)]

pub struct Index1D;
pub struct ThreadIndex<'k, I = Index1D>(core::marker::PhantomData<(&'k (), I)>);
pub struct DisjointSlice<'a, T, I = Index1D>(&'a mut [T], core::marker::PhantomData<I>);

impl<'k, I> ThreadIndex<'k, I> {
    pub fn get(&self) -> usize { loop {} }
    pub fn in_bounds(&self, len: usize) -> bool { loop {} }
}

impl<'a, T, I> DisjointSlice<'a, T, I> {
    pub fn get_mut(&mut self, index: ThreadIndex<'_, I>) -> Option<&mut T> { loop {} }
    pub unsafe fn get_unchecked_mut(&mut self, index: usize) -> &mut T { loop {} }
    pub fn len(&self) -> usize { loop {} }
    pub fn is_empty(&self) -> bool { loop {} }
}

pub mod thread {
    pub fn index_1d() -> super::ThreadIndex<'static, super::Index1D> { loop {} }
    pub fn threadIdx_x() -> u32 { loop {} }
    pub fn blockIdx_x() -> u32 { loop {} }
    pub fn blockDim_x() -> u32 { loop {} }
}
