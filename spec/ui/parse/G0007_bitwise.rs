fn and(a: i32, b: i32) -> bool { a > 2 & b < 4 }
fn or(a: i32, b: i32) -> bool { a == 2 | b == 4 }
fn fine(a: i32, b: i32) -> bool { (a > 2) & (b < 4) }
fn chained(a: i32, b: i32) -> bool { a < b < 4 }
