fn f(x: &dyn A + B, y: &'a mut dyn C + 'a) {}
fn g() -> impl {}
fn h() {
    let c = ';
}
