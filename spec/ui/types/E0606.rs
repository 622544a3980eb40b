fn f(x: &u8) -> u32 {
    x as u32
}
