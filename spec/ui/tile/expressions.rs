// Prints, patterns, literals and operators of tile code that are Rust's mistakes too.
#[tile]
fn a(z: &mut Tensor<f32, {[4]}>, n: i32) {
    cuda_tile_print!("{} {}\n", n);
    cuda_tile_print!("{}\n", n, n);
    cuda_tile_print!(n);
    cuda_tile_assert!(n > 0, n);
    cuda_tile_assert!(n > 0);
    let f = |a: f32, b: f32| a + b;
    let g = f(1.0, 2.0);
    let Some(q) = None::<i32>;
    let h = 'a: loop { break 'b; };
    for (p, q) in 0..4 { }
    let (u, w) = [1, 2];
    let [r, s] = (1, 2);
    let arr = [1, 2, 3];
    let e = arr[5];
    let e2 = arr[n as usize];
    fn inner() {}
    let big = 99999999999999999999;
    let x2: i32 = 3000000000;
    let v = n.0;
    n += 1;
    match n { 0 => {} }
    let o = Unknown { a: 1 };
    let tt: Tile<f32, {[4]}> = z.load() + constant(1.0f32, shape![8]);
    let uu = z.load() + constant(1i32, shape![4]);
    let mm = 1.0f32 + 1i32;
    if n { }
    let c = n as f64 as bool;
}
