// The number of a witness is taken too late; the help moves the statement.
#[kernel]
fn after(a: &[f32], mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let out = c.get_mut(idx);
    let i = idx.get();
    if let Some(out) = out { *out = a[i]; }
}
#[kernel]
fn within(a: &[f32], mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    if let Some(out) = c.get_mut(idx) {
        let at = idx.get();
        *out = a[at];
    }
}
#[kernel]
fn typed(a: &[f32], mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    if let Some(out) = c.get_mut(idx) {
        let at: usize = idx.get() + 1;
        *out = a[at];
    }
}
