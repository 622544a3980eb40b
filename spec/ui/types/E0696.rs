fn f() {
    loop {
        'a: { continue 'a; }
    }
}
