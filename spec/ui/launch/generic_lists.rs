#[tile]
fn grow<const S: [i32; 2], const R: [i32; 1], const N: i32>(z: &mut Tensor<f32, S>, x: &Tensor<f32, {[-1]}>) {
    let _ = N;
    z.store(x.load_tile(const_shape!(R), [0]).reshape(shape![R[0], 1]).broadcast(const_shape!(S)));
}

//@ call grow{N = 1, R = [4]}(part f32 [8, 8] tile [4, 4], tensor f32 [32])
//@ call grow{N = 1}(part f32 [8, 8] tile [4, 4], tensor f32 [32])
//@ call grow{N = 1, R = [4, 4]}(part f32 [8, 8] tile [4, 4], tensor f32 [32])
//@ call grow{N = 1, R = 4}(part f32 [8, 8] tile [4, 4], tensor f32 [32])
//@ call grow{N = [1], R = [4]}(part f32 [8, 8] tile [4, 4], tensor f32 [32])
//@ call grow{N = 1, R = [4], S = [4, 8]}(part f32 [8, 8] tile [4, 4], tensor f32 [32])
//@ assume grow{N = 1, R = [4], S = [4, 4]}
//@ assume grow{N = 1, R = [4]}
