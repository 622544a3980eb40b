fn f(a: f32) {
    println!("{}", a);
}
