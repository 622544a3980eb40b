// Schedules: of a tile kernel, and as a peer's hints for one GPU.
#[tile(warps = 64, stages = 3, cluster = 3, persistent = 2)]
fn numbers() {}
#[tile(warps = 4, warps = 8, threads = 256, stages)]
fn keys() {}
#[cutile::entry(optimization_hints = (sm_90 = (num_cta_in_cga = 16, latency = 4), gpu = (occupancy = 2)))]
fn hints() {}
#[cutile::entry(optimization_hints = (sm_90 = (occupancy = 0), sm_90 = (num_worker_warps_per_cta = 8)))]
fn twice() {}
#[cutile::entry(optimization_hints = 2)]
fn number() {}
#[tile(warps = 8, stages = 4, cluster = 2, persistent = true)]
fn scheduled() {}
#[cutile::entry(optimization_hints = (sm_90 = (num_cta_in_cga = 2)))]
fn hinted() {}
