// Methods that integers have in Rust and not here.
fn integers(x: i32, n: i32, u: u32) {
    let _ = x.rem_euclid(n);
    let _ = x.div_euclid(n);
    let _ = x.div_ceil(n);
    let _ = x.abs_diff(n);
    let _ = x.pow(n);
    let _ = x.isqrt();
    let _ = u.is_power_of_two();
    let _ = u.rotate_left(3);
    let _ = u.rotate_right(3);
    let _ = u.saturating_sub(u);
    let _ = x.into();
    let _ = x.to_f32();
}
