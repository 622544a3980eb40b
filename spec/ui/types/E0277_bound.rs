trait Area { fn area(&self) -> f32; }
fn g<T: Area>(t: T) -> f32 { t.area() }
fn f() -> f32 {
    g(1.0f32)
}
