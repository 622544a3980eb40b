// A closure that is given away while it borrows what ends.
fn counts() -> i32 {
    let make = || {
        let x = 1;
        |y: i32| y + x
    };
    let g = make();
    g(2)
}
fn owns() -> i32 {
    let make = || {
        let x = 1;
        move |y: i32| y + x
    };
    let g = make();
    g(2)
}
