use std::ops::Mul;
fn f<T: Mul<f32, Output = T>>(a: T) -> T {
    a * true
}
