async fn f() {}
extern crate core;
fn g() {
    let x = h().await;
    let y = async { 1 };
    match x { m!(a) => 1, _ => 2 }
}
