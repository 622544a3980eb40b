// Names of C for number types.
fn f(x: float, n: int, k: size_t) -> double { 0.0 }
