-- Attention forward, bf16, against cuDNN: heads of 128 and 64, the full matrix and the causal half, and
-- the safe kernel against its unchecked twin and against two with a soft cap on the scores, with a running
-- maximum (and that against FlexAttention) and without. Online softmax over tiles of keys, two products a tile;
-- the causal loop has masks only where a tile crosses the diagonal.
-- Options: --depth 128|64, --n LENGTH, --tile 128x128, --heads N, --rotate BYTES.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local attention = require "attention_source"
local gpu = require "gpulua"

local kernels = gpu.kernels(table.concat {
  attention.source("full", "full"), attention.source("full", "full_unchecked", true),
  attention.source("full", "full_again"), attention.source("full", "full_unchecked_again", true),
  attention.source("capped", "capped"), attention.source("bounded", "bounded"), attention.source("causal", "causal"),
}, "attention.lua")

local CAPPED = { "capped", "bounded" } -- forms of the full kernel with a soft cap
-- {now, goal} of the ratio to cuDNN. In pairs of blocks that load the same keys less goes through the L2
-- cache, which counts where the chip is limited by power; causal blocks have no equal neighbours.
local ROWS = {
  { depth = 128, kernel = "full", bar = { 0.95, 1.10 }, twin = true, cluster = 2 },
  { depth = 128, kernel = "causal", bar = { 0.95, 1.18 } },
  { depth = 64, kernel = "full", bar = { 0.85, 1.08 }, cluster = 2 },
  { depth = 64, kernel = "causal", bar = { 0.85, 1.08 } },
}
local TILES = { { 128, 128 }, { 128, 64 }, { 256, 64 }, { 64, 128 }, { 64, 64 } }

local function candidates(n)
  local given, list = bench.options.tile, {}
  if given then
    local m, depth = given:match("^(%d+)x(%d+)$")
    return { { math.tointeger(m), math.tointeger(depth) } }
  end
  for _, tile in ipairs(TILES) do
    -- Rows past the last key would need a mask.
    if n % tile[1] == 0 and n % tile[2] == 0 then list[#list + 1] = tile end
  end
  return list
end

local function rows_of(t, head, from, to, depth)
  return t:slice({ head, head }, { from, to }, { 1, depth }):copy():to_table()[1]
end

local function soft_cap(s)
  local t = math.exp(2 * s / attention.cap)
  return attention.cap * (t - 1) / (t + 1)
end

-- Row i of one head in doubles; `finish` is what happens to the scores.
local function reference(q, ks, vs, last, depth, finish)
  local scores, most, sum, out = {}, -math.huge, 0, {}
  for j = 1, last do
    local s, key = 0, ks[j]
    for d = 1, depth do s = s + q[d] * key[d] end
    scores[j] = finish(s / depth ^ 0.5)
    most = math.max(most, scores[j])
  end
  for d = 1, depth do out[d] = 0 end
  for j = 1, last do
    local w, value = math.exp(scores[j] - most), vs[j]
    sum = sum + w
    for d = 1, depth do out[d] = out[d] + w * value[d] end
  end
  for d = 1, depth do out[d] = out[d] / sum end
  return out
end

-- Every element of o is written, and of sampled rows each is what doubles give.
local function check(call, o, set, is_causal, heads, n, depth, finish)
  local q, k, v = table.unpack(set)
  o:fill(0 / 0)
  call()
  for head = 1, heads, math.max(1, heads // 2) do
    local ks, vs = rows_of(k, head, 1, n, depth), rows_of(v, head, 1, n, depth)
    for sample = 1, 6 do
      local i = sample == 1 and 1 or sample == 2 and n or math.random(n)
      local got = rows_of(o, head, i, i, depth)[1]
      local want = reference(rows_of(q, head, i, i, depth)[1], ks, vs, is_causal and i or n, depth,
        finish or function(s) return s end)
      for d = 1, depth do
        -- The weights are rounded to bf16 before the second product.
        if not (math.abs(got[d] - want[d]) <= 2 ^ -8 * math.abs(want[d]) + 0.01 / (is_causal and i or n) ^ 0.5) then
          error(("head %d, row %d, element %d is %.9g, the float64 reference gives %.9g"):format(head, i, d, got[d], want[d]), 0)
        end
      end
    end
  end
  local bytes, at = o:to_bytes(), 1
  while true do -- NaN in bf16: an exponent of ones with a fraction
    local from = bytes:find("[\x81-\xff][\x7f\xff]", at)
    if not from then break end
    if from % 2 == 1 then error(("element %d was not written"):format(from // 2), 0) end
    at = from + 1
  end
end

local function measure(row)
  local n, depth = bench.option("n", 8192), row.depth
  local heads = bench.option("heads", math.max(1, 16384 // n) * 2048 // depth)
  local batch = math.max(1, 16384 // n)
  if heads % batch ~= 0 then batch = 1 end
  local shape = { heads, n, depth }
  local sets = math.max(1, math.ceil(bench.option("rotate", 300000000) / (6 * heads * n * depth)))
  local inputs = {}
  for i = 1, sets do
    inputs[i] = {}
    for part = 1, 3 do inputs[i][part] = bench.normal(shape, 4194301 - 2 * (3 * i + part), "bf16") end
  end
  local o, scale = gpu.empty(shape, "bf16"), attention.log2_e / depth ^ 0.5
  scale = string.unpack("<f", string.pack("<f", scale))
  local function calls(kernel, tile)
    local turn, part = 0, o:permute({ 2, 1, 3 }):tiles { tile[1], 1, depth }
    local fixed = kernel:with { N = tile[2] // 8, cluster = row.cluster }
    local function at(i) fixed:run(part, inputs[i][1], inputs[i][2], inputs[i][3], scale) end
    return function()
      turn = turn % sets + 1
      at(turn)
    end, function() at(sets) end
  end
  local function fastest(kernel)
    local arms = {}
    for i, tile in ipairs(candidates(n)) do
      local following, last = calls(kernel, tile)
      arms[i] = { table.concat(tile, "x"), following, tile = tile, last = last }
    end
    return bench.choose(arms)
  end
  local best, tried = fastest(kernels[row.kernel])
  local is_causal = row.kernel == "causal"
  check(best.last, o, inputs[sets], is_causal, heads, n, depth)
  local arms = {
    { "ours", function(count) return bench.batch(best[2], count) end },
    { "peer", function(count)
      return (bench.python():ask("attention", depth, n, is_causal, batch, heads // batch, sets, count))
    end },
  }
  local twins, tiles = nil, {}
  if row.twin then
    local lone = {}
    for i, copy in ipairs { "", "_again", "_unchecked", "_unchecked_again" } do
      local call, last = calls(kernels[row.kernel .. copy], best.tile)
      check(last, o, inputs[sets], is_causal, heads, n, depth)
      lone[i] = call
    end
    twins = bench.twins(lone)
    for _, form in ipairs(CAPPED) do
      local capped = fastest(kernels[form])
      check(capped.last, o, inputs[sets], is_causal, heads, n, depth, soft_cap)
      tiles[form] = capped[1]
      arms[#arms + 1] = { form, function(count) return bench.batch(capped[2], count) end }
    end
    arms[#arms + 1] = { "flex", function(count)
      return (bench.python():ask("capped", attention.cap, depth, n, batch, heads // batch, sets, count))
    end }
  end
  local r = bench.sustain(arms)
  pcall(function() bench.python():ask("forget") end)
  local flop = 4 * heads * n * n * depth * (is_causal and 0.5 or 1)
  local name = ("attention_%s_d%d"):format(row.kernel, depth)
  bench.emit({
    row = name, n = n, heads = heads, tile = best[1], cluster = row.cluster, tried = tried, sets = sets,
    value = flop / r.ours.median * 1e-12, unit = "TFLOP/s", values = r.ours.values,
    ratio = bench.over(r.peer, r.ours), peer = "cuDNN", peer_values = r.peer.values,
    peer_value = r.peer.median and flop / r.peer.median * 1e-12, peer_error = r.peer.error,
  }, { row.bar[1], row.bar[2], "higher" })
  if row.twin then
    bench.emit({
      row = "unchecked_" .. name, n = n, value = flop / twins.ours * 1e-12, unit = "TFLOP/s",
      ratio = twins.twin / twins.ours, peer = "its unchecked_accesses twin", peer_value = flop / twins.twin * 1e-12,
    }, { 0.99, 0.997, "higher" })
    bench.emit({
      row = ("attention_capped_d%d"):format(depth), n = n, tile = tiles.capped, value = r.capped.median and flop / r.capped.median * 1e-12,
      unit = "TFLOP/s", ratio = bench.over(r.flex, r.capped), peer = "FlexAttention, the same cap", peer_error = r.flex.error,
      peer_value = r.flex.median and flop / r.flex.median * 1e-12,
    }, { row.bar[1], row.bar[2], "higher" })
    for _, form in ipairs(CAPPED) do
      bench.emit({
        row = ("attention_form_%s_d%d"):format(form, depth), n = n, tile = tiles[form], value = r[form].median and flop / r[form].median * 1e-12,
        unit = "TFLOP/s", ratio = bench.over(r.ours, r[form]), peer = "the kernel without a cap",
        peer_value = flop / r.ours.median * 1e-12,
      }, { 0.95, 0.98, "higher" })
    end
  end
end

bench.main("attention", function()
  gpu.seed(6)
  for _, row in ipairs(ROWS) do
    if bench.option("depth", row.depth) == row.depth then
      bench.row(("attention_%s_d%d"):format(row.kernel, row.depth), function() measure(row) end)
      collectgarbage()
    end
  end
end)
