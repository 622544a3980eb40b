-- Add and saxpy on the CPU, f32, against the same loops in C (gcc -O3 -march=native) on as many
-- threads: gigabytes moved per second.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"

local SOURCE = [[
  #[tile]
  fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
      z.store(x.load_like(z) + y.load_like(z));
  }

  #[tile]
  fn saxpy_tile<const B: i32>(y: &mut Tensor<f32, {[B]}>, alpha: f32, x: &Tensor<f32, {[-1]}>) {
      y.store(alpha * x.load_like(y) + y.load());
  }

  #[kernel]
  fn saxpy_simt(alpha: f32, x: &[f32], mut y: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = y.get_mut(idx) { *out = alpha * x[i] + *out; }
  }
]]

local TILES = { 256, 1024, 4096, 16384 }
local BARS = { 0.8, 1.0, "higher" }

-- Nearly nothing, so that y keeps its size over many runs.
local ALPHA = 0x1p-20

-- The fastest tile of launches {tile = f}.
local function choose(launches)
  local best, least
  for _, tile in ipairs(TILES) do
    local times = {}
    for i = 1, 4 do times[i] = bench.batch(launches[tile], 1) end
    local seconds = bench.median(times)
    if not least or seconds < least then best, least = tile, seconds end
  end
  return best
end

local function report(name, n, streams, launch, peer, tile)
  local threads = gpu.device().processors
  local bytes = 4 * n * streams
  local r = bench.alternate(bench.option("rounds", 15), {
    { "ours", function() return bench.batch(launch, 2) end },
    { "peer", function() return (bench.c():ask(peer, n, threads, 2)) end },
  })
  bench.emit({
    row = name, n = n, tile = tile, value = bytes / r.ours.median * 1e-9, unit = "GB/s", threads = threads,
    best = bytes / r.ours.min * 1e-9, ratio = bench.ratio(r.peer, r.ours), peer = "gcc -O3 -march=native",
    peer_value = r.peer.median and bytes / r.peer.median * 1e-9, peer_error = r.peer.error,
    ratio_of_best = r.peer.min and r.peer.min / r.ours.min,
  }, BARS)
end

bench.main("saxpy_cpu", function()
  assert(gpu.device "cpu")
  local n = bench.option("n", 1 << 26)
  local kernels = gpu.kernels(SOURCE, "saxpy_cpu")
  local x, y, z = bench.normal(n, 4000037), bench.normal(n, 4194301), gpu.empty { n }
  local adds, saxpys = {}, {}
  for _, tile in ipairs(TILES) do
    local zs, ys = z:tiles { tile }, y:tiles { tile }
    adds[tile] = function() kernels.add(zs, x, y):run() end
    saxpys[tile] = function() kernels.saxpy_tile(ys, ALPHA, x):run() end
  end
  local function simt() kernels.saxpy_simt(ALPHA, x, y):run() end

  -- ALPHA is a power of two: alpha * x is exact, so fused or not the result is one rounding.
  local before = y:copy()
  for name, launch in pairs { add = adds[1024], saxpy_tile = saxpys[1024], saxpy_simt = simt } do
    z:fill(0 / 0)
    y:copy_from(before)
    launch()
    local f = function(a, b) return a + b end
    if name ~= "add" then f = function(a, b) return ALPHA * a + b end end
    local ok, err = pcall(bench.check_samples, name == "add" and z or y, { x, before }, f, 256)
    if not ok then error(name .. ": " .. tostring(err), 0) end
  end
  before:free()

  local tile = choose(adds)
  report("add_cpu", n, 3, adds[tile], "add", tile)
  tile = choose(saxpys)
  report("saxpy_tile_cpu", n, 3, saxpys[tile], "saxpy", tile)
  report("saxpy_simt_cpu", n, 3, simt, "saxpy")
end)
