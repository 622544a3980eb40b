// Names of the peers that are not there yet are refused by name.
fn a() { thread::sync_threads(); }
fn b() -> u32 { warp::lane_id() }
fn c(x: PointerTile<f32, {[1]}>) {}
fn d(x: Tile<f32, {[4]}>) -> f32 { reduce_sum(x, 0) }
fn e() -> u32 { grid }
