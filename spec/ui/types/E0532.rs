enum S { Circle(f32), Dot }
fn f(s: S) -> i32 {
    match s {
        S::Circle => 1,
        S::Dot => 0,
    }
}
