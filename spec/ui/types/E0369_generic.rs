fn f<T: Copy>(a: T) -> T {
    a + a
}
