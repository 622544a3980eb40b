// Prints in kernels.
struct Pair { a: i32, b: i32 }
#[tile]
fn f(x: &Tensor<f32, {[4]}>, n: i32) {
    cuda_tile_print!("{} of {{{}}}\n", n, x.load_tile(shape![4], [0]));
    cuda_tile_print!("{} {}\n", n);
    println!("{}", n, n);
    println!("{n}");
    println!("{:?}", n);
    println!("}");
    let text = "x";
    println!(text);
    println!("{}", x);
    println!("{}", Pair { a: 1, b: 2 });
    println!("{}", (n, n));
    let t = print_tko("x = %f\n", x.load_tile(shape![4], [0]), None);
}
