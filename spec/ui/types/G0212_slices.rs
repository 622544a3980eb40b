// Slices that no launch can fill, or that every thread would write.
struct P { a: f32 }
#[kernel]
fn shared(y: &mut [i32]) { y[0] += 1; }
#[kernel]
fn structs(p: &[P], mut y: DisjointSlice<f32>) {}
#[kernel]
fn arrays(p: &[[f32; 4]], mut y: DisjointSlice<f32>) {}
#[kernel]
fn witness(mut y: DisjointSlice<P>) {}
#[kernel]
unsafe fn taken(y: &mut [i32]) { y[0] += 1; }
#[kernel]
fn generic<T: Copy>(x: &[T], mut y: DisjointSlice<T>) {}
