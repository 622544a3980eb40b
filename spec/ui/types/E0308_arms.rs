fn f(n: i32) {
    let x = match n { 0 => 1i32, _ => true };
}
