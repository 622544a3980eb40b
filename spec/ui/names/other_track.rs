#[kernel]
fn tensor(x: &Tensor<f32, {[-1]}>, mut z: DisjointSlice<f32>) {}
#[tile]
fn slice(mut z: DisjointSlice<f32>) {}
#[kernel]
fn tile(mut z: DisjointSlice<f32>) { let t: Tile<f32, {[4]}> = z; }
#[tile]
fn thread_of_tile(z: &mut Tensor<f32, {[4]}>) { let i = thread::index_1d(); }
fn tile_helper() { let t = program_id(0); let u = thread::index_1d(); }
fn simt_helper() { let u = thread::index_1d(); let t = program_id(0); }
fn no_track() { let t = program_idd(0); let u = treads::index_1d(); }
