#[kernel]
fn f(a: &[f32]) {
    let i = cutile::core::program_id(0);
}
