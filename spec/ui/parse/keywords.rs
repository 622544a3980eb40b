fn f() {
    let abstract = 1;
    let fn = 2;
    let x = yield;
}
struct match {}
fn move() {}
