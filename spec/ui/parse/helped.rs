// What other languages write. Each is helped with a change, and spec/cli/helps_spec.lua makes them all.
def first() {}
fn second(x: bool) -> bool { not x }
fn third(x: f32) -> f32 { float y = x; y }
fn fourth(x: f32) -> f32 { auto y = x; y }
fn fifth<const B>(t: Tile<f32, {[B]}>) {}
fn later(n: i32) { if n == 0 {} elif n == 1 {} }
const EPS = 1e-5;
const COUNT = 4;
fn sixth<const B, T>(t: Tile<f32, {[B]}>) {}
