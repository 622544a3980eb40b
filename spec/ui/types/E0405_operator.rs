fn f<T: Float>(x: T, y: T) -> T {
    let z = x.sqrt() + y;
    x + y * z
}
