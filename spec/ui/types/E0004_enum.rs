enum Op { Add, Mul, Neg(i32) }
fn f(o: Op) -> i32 {
    match o { Op::Add => 1 }
}
