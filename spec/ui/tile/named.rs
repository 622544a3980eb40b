// Arithmetic with a name: classes of elements, markers of the wrong kind, markers left out.
fn a(x: Tile<f32, {[8]}>, n: Tile<i32, {[8]}>) {
    let b = addi(x, x, overflow::None);
    let c = addf(n, n, rounding::Zero, ftz::Disabled);
    let d = addf(x, x, ftz::Disabled, rounding::Zero);
    let e = addf(x, x);
    let f = maxf(x, x, ftz::Enabled);
    let g = cmpi(n, n, cmp_ordering::Ordered);
    let h: Tile<f32, {[4]}> = itof(n, rounding::NearestEven);
    let i: Tile<i32, {[8]}> = ftoi(x, nan::Enabled);
    let k = sqrt(x, rounding::Nearest);
}
