#[tile]
fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, n: u8) {
    let t = x.load_like(z);
    if n > 0 { z.store(t); }
}

// too few and too many
//@ call add(part f32 [1024] tile [128], tensor f32 [1024])
//@ call add(part f32 [1024] tile [128], tensor f32 [1024], 1, 2)
// a tensor where tiles are needed, tiles where a tensor is
//@ call add(tensor f32 [1024], tensor f32 [1024], 1)
//@ call add(part f32 [1024] tile [128], part f32 [1024] tile [128], 1)
// element type and rank
//@ call add(part f16 [1024] tile [128], tensor f32 [1024], 1)
//@ call add(part f32 [1024] tile [128], tensor f32 [32, 32], 1)
// numbers that do not convert
//@ call add(part f32 [1024] tile [128], tensor f32 [1024], 300)
//@ call add(part f32 [1024] tile [128], tensor f32 [1024], 1.5)
//@ call add(part f32 [1024] tile [128], tensor f32 [1024], true)
//@ call add(part f32 [1024] tile [128], tensor f32 [1024], tensor f32 [1])
//@ call add(5, tensor f32 [1024], 1)
#[kernel]
fn scalar(x: f32, mut z: DisjointSlice<f32>) {}
// an integer that is no f32, and a number beyond it
//@ call scalar(16777217, tensor f32 [4])
//@ call scalar(1e300, tensor f32 [4])
