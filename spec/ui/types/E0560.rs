struct P { x: i32 }
fn f() -> P {
    P { x: 1, z: 2 }
}
