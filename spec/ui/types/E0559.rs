enum E { A { x: i32 } }
fn f() -> E {
    E::A { x: 1, z: 2 }
}
