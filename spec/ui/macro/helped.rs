// Changes are made where a user wrote the text, not across what a macro put together.
macro_rules! call { ($f:ident, $x:expr) => { $f($x) }; }
macro_rules! call_turned { ($f:ident, $x:expr, $y:expr) => { $f($y, $x) }; }
fn f<const B: i32>(t: Tile<f32, {[B]}>, s: f32) {
    let a = call!(sqrt, s);
    let b = call_turned!(max, 0.0, t);
    let c = call!(num_tiles, t);
}
