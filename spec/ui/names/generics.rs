fn too_few(x: Tile<f32>) {}
fn none(x: Tile) {}
fn too_many(x: DisjointSlice<f32, Index1D, i32>) {}
struct Pair<A, B> { a: A, b: B }
fn own(x: Pair<f32>) {}
fn swapped(x: Tile<{[3]}, f32>) {}
fn not_const(x: Tile<f32, f32>) {}
fn placeholder(x: _) {}
fn a_trait(x: Clone) {}
fn a_module(x: thread) {}
fn not_a_trait<T: Pair>(x: T) {}
fn no_such_type<T: Clone>(x: T::Output) {}
fn float_const<const X: f32>() {}
fn composed<T>(x: T) where [T; 2]: Copy {}
fn fine<T, I>(x: Pair<T, I>, y: DisjointSlice<T>) where T: Copy, I: Clone + Copy {}
