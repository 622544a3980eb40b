fn f() {
    if x == S { a: 1 } {}
    if {}
    while {}
    if x y {}
    if a == { g(); }
    for i 0..3 {}
    for i of 0..3 {}
    let y = let z = 3;
    if let Some(x) = y || z {}
    for i in 0..= {}
    if a {} else b();
}
