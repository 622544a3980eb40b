-- Matrix products on tensor cores against cuBLAS: bf16 in four sizes, tf32 and f8e4m3 (the second
-- operand transposed, as their instructions want it), and the safe kernel against its unchecked twin.
-- Options: --kind bf16|tf32|f8e4m3fn, --n SIZE, --tile 128x256x64, --rotate BYTES.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"
local matrix = require "matrix"
local source = require "gemm_source"

local k = gpu.kernels(table.concat {
  source("plain", "plain"), source("plain", "plain_again"), source("transposed", "transposed"),
  source("plain", "plain_unchecked", true), source("plain", "plain_unchecked_again", true),
}, "gemm.lua")

-- {now, goal} of the ratio to cuBLAS; `twin`: the unchecked kernel is measured too.
local ROWS = {
  { kind = "bf16", n = 8192, bar = { 0.95, 1.05 }, twin = true },
  { kind = "bf16", n = 4096, bar = { 0.95, 1.03 } },
  { kind = "bf16", n = 2048, bar = { 0.85, 1.02 } },
  { kind = "bf16", n = 1024, bar = { 0.85, 1.02 } },
  { kind = "tf32", n = 8192, bar = { 0.75, 1.0 } },
  { kind = "f8e4m3fn", n = 8192, bar = { 0.75, 1.0 } },
}
local KINDS = {
  bf16 = { kernel = "plain", out = "bf16", bytes = 2, tolerance = 2 ^ -8 },
  tf32 = { kernel = "transposed", out = "f32", bytes = 4, tolerance = 2 ^ -12 },
  -- The tensor cores add 8-bit products with about 13 bits: half a percent of a sum of 8192.
  f8e4m3fn = { kernel = "transposed", out = "bf16", bytes = 1, tolerance = 2 ^ -7 },
}
-- {BM, BN, bytes of BK elements, time of an element beside one of the first}
local TILES = {
  { 128, 256, 128, 1 }, { 256, 128, 128, 1 }, { 192, 192, 128, 1 }, { 256, 160, 128, 1.02 }, { 128, 192, 128, 1.03 }, { 192, 128, 128, 1.04 },
  { 128, 224, 128, 1.04 }, { 128, 128, 128, 1.05 }, { 128, 160, 128, 1.06 }, { 192, 96, 128, 1.15 }, { 128, 64, 128, 1.5 }, { 64, 64, 128, 2 },
}
local MULTIPROCESSORS, TRIED = 132, 6

-- The time that the waves of a product's tiles take.
local function waves(tile, n)
  local count = math.ceil(n / tile[1]) * math.ceil(n / tile[2])
  return math.ceil(count / MULTIPROCESSORS) * tile[1] * tile[2] * tile[4]
end

local function candidates(kind, n)
  local given = bench.options.tile
  if given then
    local rows, columns, depth = given:match("^(%d+)x(%d+)x(%d+)$")
    return { { math.tointeger(rows), math.tointeger(columns), math.tointeger(depth) } }
  end
  local list = {}
  table.sort(TILES, function(a, b) return waves(a, n) < waves(b, n) end)
  for i = 1, TRIED do list[i] = { TILES[i][1], TILES[i][2], TILES[i][3] // kind.bytes } end
  return list
end

-- A call that multiplies the next pair, and one that multiplies the last.
local function calls(kernel, tile, c, as, bs)
  local turn, part, fixed = 0, c:tiles { tile[1], tile[2] }, kernel:with { BK = tile[3] }
  return function()
    turn = turn % #as + 1
    fixed:run(part, as[turn], bs[turn])
  end, function() fixed:run(part, as[#as], bs[#bs]) end
end

-- Raises unless the kernel's product is right; c is poisoned before.
local function check(call, kind, c, as, bs)
  c:fill(0 / 0)
  call()
  matrix.check(c, as[#as], bs[#bs], { b = kind.kernel == "transposed" }, kind.tolerance)
end

local function choose(kind, c, as, bs)
  local arms = {}
  for i, tile in ipairs(candidates(kind, c.shape[1])) do
    local following, last = calls(k[kind.kernel], tile, c, as, bs)
    arms[i] = { table.concat(tile, "x"), following, tile = tile, last = last }
  end
  local best, tried = bench.choose(arms)
  check(best.last, kind, c, as, bs)
  return best, tried
end

local function measure(row)
  local kind, n = KINDS[row.kind], bench.option("n", row.n)
  local sets = math.max(1, math.ceil(bench.option("rotate", 300000000) / (2 * n * n * kind.bytes)))
  local as, bs = matrix.normal(sets, { n, n }, row.kind), matrix.normal(sets, { n, n }, row.kind)
  local c = gpu.empty({ n, n }, kind.out)
  local name = ("gemm_%s_%d"):format(row.kind, n)
  local best, tried = choose(kind, c, as, bs)
  local arms = {
    { "ours", function(count) return bench.batch(best[2], count) end },
    { "peer", function(count) return (bench.python():ask("gemm", row.kind, n, sets, count)) end },
  }
  local lone, twins = {}, nil
  for i, copy in ipairs(row.twin and { "", "_again", "_unchecked", "_unchecked_again" } or {}) do
    local call, last = calls(k[kind.kernel .. copy], best.tile, c, as, bs)
    check(last, kind, c, as, bs)
    lone[i] = call
  end
  if row.twin then twins = bench.twins(lone) end
  local r = bench.sustain(arms)
  pcall(function() bench.python():ask("forget") end)
  local flop = 2 * n ^ 3
  bench.emit({
    row = name, n = n, tile = best[1], tried = tried, sets = sets,
    value = flop / r.ours.median * 1e-12, unit = "TFLOP/s", values = r.ours.values,
    ratio = bench.over(r.peer, r.ours), peer = "cuBLAS", peer_values = r.peer.values,
    peer_value = r.peer.median and flop / r.peer.median * 1e-12, peer_error = r.peer.error,
  }, { row.bar[1], row.bar[2], "higher" })
  if row.twin then
    bench.emit({
      row = "unchecked_" .. name, n = n, value = flop / twins.ours * 1e-12, unit = "TFLOP/s",
      ratio = twins.twin / twins.ours, peer = "its unchecked_accesses twin", peer_value = flop / twins.twin * 1e-12,
    }, { 0.99, 0.997, "higher" })
  end
end

bench.main("gemm", function()
  gpu.seed(5)
  local seen = {}
  for _, row in ipairs(ROWS) do
    local is_wanted = (bench.options.kind or row.kind) == row.kind
    local n = bench.option("n", row.n)
    if is_wanted and not seen[row.kind .. n] then
      seen[row.kind .. n] = true
      bench.row(("gemm_%s_%d"):format(row.kind, n), function() measure(row) end)
      collectgarbage()
    end
  end
end)
