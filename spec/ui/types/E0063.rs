struct P { x: i32, y: i32, z: i32 }
fn f() -> P {
    P { x: 1 }
}
