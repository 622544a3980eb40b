fn helper() -> i32 { cutile::core::program_id(0) }
#[kernel]
fn f(mut c: DisjointSlice<f32>) {
    let i = helper();
}
