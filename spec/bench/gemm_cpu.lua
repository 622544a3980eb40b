-- An f32 product of 1024 x 1024 matrices on the CPU, against OpenBLAS on as many threads, in operations a
-- second. OpenBLAS is Debian's libopenblas0-pthread; without it the row has no ratio.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"
local matrix = require "matrix"
local source = require "gemm_source"

local TILES = { { 64, 64, 64 }, { 128, 128, 64 }, { 128, 256, 64 }, { 256, 256, 64 }, { 128, 128, 128 } } -- rows, columns, depth

bench.main("gemm_cpu", function()
  assert(gpu.device "cpu")
  local n, threads = bench.option("n", 1024), gpu.device().processors
  local kernel = gpu.kernels(source("plain", "plain"), "gemm_cpu").plain
  local a, b, c = bench.normal({ n, n }, 4194301), bench.normal({ n, n }, 4194293), gpu.empty { n, n }
  local arms = {}
  for i, tile in ipairs(TILES) do
    local part, fixed = c:tiles { tile[1], tile[2] }, kernel:with { BK = tile[3] }
    local function launch() fixed:run(part, a, b) end
    c:fill(0 / 0)
    launch()
    matrix.check(c, a, b, {}, 1e-5)
    arms[i] = { table.concat(tile, "x"), launch }
  end
  local best = bench.choose(arms)
  local r = bench.alternate(bench.option("rounds", 15), {
    { "ours", function() return bench.batch(best[2], 4) end },
    { "peer", function() return (bench.python():ask("openblas", n, threads, 4)) end },
  })
  local flop = 2 * n ^ 3
  bench.emit({
    row = "gemm_tile_cpu", n = n, tile = best[1], threads = threads, value = flop / r.ours.median * 1e-9, unit = "GFLOP/s",
    best = flop / r.ours.min * 1e-9, ratio = bench.ratio(r.peer, r.ours), peer = "OpenBLAS",
    peer_value = r.peer.median and flop / r.peer.median * 1e-9, peer_error = r.peer.error,
  }, { 0.3, 0.8, "higher" })
end)
