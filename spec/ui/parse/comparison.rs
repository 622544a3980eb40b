fn f() {
    if a < b < c {}
    let x = a == b == c;
    f<i32>(3);
    let y = n as usize < m;
}
