// Elements that are moved and converted, and have no arithmetic.
fn a(x: Tile<f4e2m1fn, {[8]}>, y: Tile<f8e8m0fnu, {[8]}>) {
    let s = x + x;
    let n = -x;
    let e = exp(y);
    let o: Tile<f4e2m1fn, {[8]}> = y;
    let t: Tile<f32, {[8]}> = convert_tile(y);
}
