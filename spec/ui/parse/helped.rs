// What other languages write. Each is helped with a change, and spec/cli/helps_spec.lua makes them all.
def first() {}
fn second(x: bool) -> bool { not x }
fn third(x: f32) -> f32 { float y = x; y }
fn fourth(x: f32) -> f32 { auto y = x; y }
fn fifth<const B>(t: Tile<f32, {[B]}>) {}
fn sixth<const B, T>(t: Tile<f32, {[B]}>) {}
