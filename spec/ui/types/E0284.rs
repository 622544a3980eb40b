fn unknown() -> usize {
    fn n<const N: usize>() -> usize { N }
    n()
}
