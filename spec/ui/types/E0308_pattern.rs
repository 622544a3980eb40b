fn f(n: i32) -> i32 {
    match n { true => 1, _ => 0 }
}
// One report for a pattern that fits no such value, whatever else it is.
fn once(n: i32) {
    for (p, q) in 0..4 { }
    let (u, w) = [1, 2];
    let [r, s] = (1, 2);
    let (u, w) = (1, 2, 3);
    let Some(x) = 3;
    match n { (1, 2) => {} }
    if let (1, 2) = n {}
}
