fn f(n: u32, limit: u32) -> u32 {
    if n = limit {
        return 1;
    }
    while (n = limit) {
    }
    0
}
