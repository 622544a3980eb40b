// Methods that floats have in Rust and not here.
fn floats(x: f32, y: f32) {
    let _ = x.asin();
    let _ = x.acos();
    let _ = x.atan();
    let _ = x.asinh();
    let _ = x.acosh();
    let _ = x.atanh();
    let _ = x.sin_cos();
    let _ = x.hypot(y);
    let _ = x.exp_m1();
    let _ = x.ln_1p();
    let _ = x.log(y);
    let _ = x.recip();
    let _ = x.fract();
    let _ = x.trunc();
    let _ = x.round_ties_even();
    let _ = x.is_finite();
    let _ = x.is_infinite();
    let _ = x.copysign(y);
}
