// Names of the peers that are not there yet are refused by name.
fn a() { thread::sync_threads(); }
fn b() -> u32 { warp::lane_id() }
fn c(x: MappedPartitionMut<f32, {[1]}, {[1]}>) {}
fn d(x: Tile<f32, {[4]}>) { print_tko("", x, None); }
fn e() -> u32 { grid }
fn f() { let p = get_global::<i32>(); }
unsafe fn g() { let p: PointerTile<*mut i32, {[]}> = cutile::tileir::alloca::<i32>(8); }
fn h() { let alloca = 1; let y = alloca; }
