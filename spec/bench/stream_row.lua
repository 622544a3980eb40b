-- Rows of kernels that read tensors once and write one: the data, the check, the choice of the tile,
-- the turns with the peer. Figures are terabytes moved per second.
local bench = require "bench"
local gpu = require "gpulua"

local TILES = { 512, 1024, 2048, 4096, 8192, 16384 }
local PERIODS = { 4000037, 4194301 } -- primes: the sums of two inputs do not repeat
local BATCH_SECONDS = 0.12

-- Poisons z, computes it and compares runs of it on the host.
local function check_some(z, inputs, launch, reference)
  z:fill(0 / 0)
  launch()
  bench.check_samples(z, inputs, reference, 64)
end

-- The same, and then every element on the device, by a kernel of the other track in f64.
local function check_all(kernels, z, inputs, launch, reference)
  check_some(z, inputs, launch, reference)
  local bad = gpu.full({ z.numel }, 1, "u8")
  local args = { z, inputs[1], inputs[2] }
  args[#args + 1] = bad
  kernels.check(table.unpack(args)):sync()
  bench.check_flags(bad)
end

local function measure(spec)
  local kernels = gpu.kernels(spec.source, spec.row)
  local n = bench.option("n", spec.n)
  local z, inputs = gpu.empty { n }, {}
  for i = 1, spec.inputs do inputs[i] = bench.normal(n, PERIODS[i]) end
  local bytes = 4 * n * (spec.inputs + 1)

  local launches, tiles = {}, {}
  for _, tile in ipairs(TILES) do
    local part = z:tiles { tile }
    local x, y = inputs[1], inputs[2]
    if y then launches[tile] = function() kernels.run(part, x, y):run() end
    else launches[tile] = function() kernels.run(part, x):run() end end
  end
  local best, count
  for _, tile in ipairs(TILES) do
    local ok, err = pcall(check_some, z, inputs, launches[tile], spec.reference)
    if not ok then error(("tile %d: %s"):format(tile, tostring(err)), 0) end
    count = count or bench.count_for(launches[tile], BATCH_SECONDS)
    local seconds = {}
    for i = 1, 3 do seconds[i] = bench.batch(launches[tile], math.max(1, count // 2)) end
    tiles[tostring(tile)] = bytes / bench.median(seconds) * 1e-12
    if not best or tiles[tostring(tile)] > tiles[tostring(best)] then best = tile end
  end

  check_all(kernels, z, inputs, launches[best], spec.reference)

  local arms = {
    { "ours", function() return bench.batch(launches[best], count) end },
    { "peer", function() return (bench.python():ask(spec.peer, n, count)) end },
  }
  if spec.inputs == 1 then
    arms[3] = { "copy_from", function()
      return bench.batch(function() z:copy_from(inputs[1]) end, count)
    end }
  end
  local r = bench.alternate(bench.option("rounds", 11), arms)
  check_all(kernels, z, inputs, launches[best], spec.reference)
  pcall(function() bench.python():ask("forget") end)
  if spec.twin then
    local part = z:tiles { best }
    check_all(kernels, z, inputs, function() kernels.unchecked(part, inputs[1], inputs[2]):run() end, spec.reference)
    local twins = bench.sustain {
      { "ours", function(turns) return bench.batch(launches[best], turns) end },
      { "twin", function(turns)
        return bench.batch(function() kernels.unchecked(part, inputs[1], inputs[2]):run() end, turns)
      end },
    }
    bench.emit({
      row = "unchecked_" .. spec.row, n = n, tile = best, unit = "TB/s", value = bytes / twins.ours.median * 1e-12,
      ratio = bench.over(twins.twin, twins.ours), peer = "its unchecked_accesses twin",
      peer_value = bytes / twins.twin.median * 1e-12,
    }, { 0.99, 0.997, "higher" })
  end
  bench.emit({
    row = spec.row, n = n, tile = best, tiles = tiles, launches_per_batch = count,
    value = bytes / r.ours.median * 1e-12, unit = "TB/s", best = bytes / r.ours.min * 1e-12,
    ratio = bench.ratio(r.peer, r.ours), peer = spec.peer_name,
    peer_value = r.peer.median and bytes / r.peer.median * 1e-12, peer_error = r.peer.error,
    copy_from = r.copy_from and r.copy_from.median and bytes / r.copy_from.median * 1e-12,
  }, spec.bar)
end

return function(spec) bench.main(spec.row, function() measure(spec) end) end
