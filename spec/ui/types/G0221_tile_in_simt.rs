#[kernel]
fn f(mut c: DisjointSlice<f32>) {
    let i = program_id(0);
}
