-- A launch from the script: a tiny kernel of four arguments, against the same loop over
-- cuLaunchKernel in C; torch, CuPy and Triton for context. Microseconds a launch, two ways: end to
-- end (thousands of launches, then one wait) and the host's part alone (too few to fill the queue). All
-- run on one core, where taskset is; the rows say on which.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"

local MANY, FEW, REPEATS = 3000, 200, 15

-- Microseconds a call of the host's part: the device is idle before, and waited for outside.
local function enqueue(f)
  local times = {}
  for i = 1, REPEATS do
    gpu.sync()
    local from = gpu.clock()
    for _ = 1, FEW do f() end
    times[i] = (gpu.clock() - from) / FEW
  end
  gpu.sync()
  return bench.median(times)
end

bench.main("launch", function()
  local core = bench.pin()
  local kernels = gpu.kernels([[
    #[kernel]
    fn axpy(alpha: f32, x: &[f32], y: &[f32], mut z: DisjointSlice<f32>) {
        let idx = thread::index_1d();
        let i = idx.get();
        if let Some(out) = z.get_mut(idx) { *out = alpha * x[i] + y[i]; }
    }

    #[tile]
    fn axpy_tile<const B: i32>(z: &mut Tensor<f32, {[B]}>, alpha: f32, x: &Tensor<f32, {[-1]}>,
                               y: &Tensor<f32, {[-1]}>) {
        z.store(alpha * x.load_like(z) + y.load_like(z));
    }
  ]], "launch")
  local x, y, z = gpu.randn { 1024 }, gpu.randn { 1024 }, gpu.full({ 1024 }, 0 / 0)
  local axpy, tile, part = kernels.axpy:with { block = 256 }, kernels.axpy_tile, z:tiles { 256 }
  local function simt_once() axpy:run(2.5, x, y, z) end
  local function op_once() axpy(2.5, x, y, z):run() end
  local function tile_once() tile:run(part, 2.5, x, y) end
  -- 2.5 * x is rounded once in f32, or fused: both are near the sum in f64.
  for _, once in ipairs { simt_once, tile_once } do
    z:fill(0 / 0)
    once()
    for i = 1, 1024, 31 do
      local want = 2.5 * x[i] + y[i]
      local off = math.abs(z[i] - want)
      if off > 1e-6 * (math.abs(2.5 * x[i]) + math.abs(y[i])) or off ~= off then
        error(("element %d is %.9g, the float64 reference gives %.9g"):format(i - 1, z[i], want), 0)
      end
    end
  end

  local c = function(...) return (bench.c():ask(...)) end
  local python = function(what) return function() return (bench.python():ask("launch", what, MANY)) end end
  local rounds = bench.option("rounds", 9)
  local whole = bench.alternate(rounds, {
    { "ours", function() return bench.batch(simt_once, MANY) end },
    { "c", function() return c("launch", MANY) end },
    { "tile", function() return bench.batch(tile_once, MANY) end },
    { "cupy", python("cupy") }, { "torch", python("torch") }, { "triton", python("triton") },
  })
  local host = bench.alternate(rounds, {
    { "ours", function() return enqueue(simt_once) end },
    { "c", function() return c("enqueue", FEW, REPEATS) end },
    { "tile", function() return enqueue(tile_once) end },
    { "op", function() return enqueue(op_once) end },
  })
  local function micro(r) return r.median and r.median * 1e6 end
  local others, wrong = {}, {}
  for _, name in ipairs { "cupy", "torch", "triton" } do
    others[name], wrong[name] = micro(whole[name]), whole[name].error
  end
  bench.emit({
    row = "launch", value = micro(whole.ours), unit = "us", best = whole.ours.min * 1e6, tile = micro(whole.tile),
    ratio = bench.ratio(whole.ours, whole.c), peer = "cuLaunchKernel in C", peer_value = micro(whole.c),
    peer_error = whole.c.error, core = core, others = others, others_error = next(wrong) and wrong or nil,
  }, { 1.25, 1.08, "lower" })
  bench.emit({
    row = "launch_host", value = micro(host.ours), unit = "us", best = host.ours.min * 1e6, tile = micro(host.tile),
    op = micro(host.op),
    ratio = bench.ratio(host.ours, host.c), peer = "cuLaunchKernel in C", peer_value = micro(host.c),
    peer_error = host.c.error, core = core,
  }, { 1.25, 1.08, "lower" })
end)
