-- Rows that have several forms of one launch (tile sizes, warps): each form is checked, timed shortly,
-- and the best one measured in turns with the peer. Figures are terabytes moved per second.
local bench = require "bench"

local BATCH_SECONDS = 0.12

-- row, bar, bytes; variants: {{label, launch}, ..}; poison(): fills the output with NaN; check(): raises
-- what is wrong with it; peers: {{field, request word ..}, ..}, the first of them is what the ratio is
-- to unless a later one is faster; peer_name; fields: what the row says besides.
return function(spec)
  local count, best
  local rates = {}
  for _, variant in ipairs(spec.variants) do
    local label, launch = variant[1], variant[2]
    spec.poison()
    launch()
    local ok, err = pcall(spec.check)
    if not ok then error(("%s: %s"):format(label, tostring(err)), 0) end
    count = count or bench.count_for(launch, BATCH_SECONDS)
    local seconds = {}
    for i = 1, 3 do seconds[i] = bench.batch(launch, math.max(1, count // 3)) end
    rates[label] = spec.bytes / bench.median(seconds) * 1e-12
    if not best or rates[label] > rates[best[1]] then best = variant end
  end

  local arms = { { "ours", function() return bench.batch(best[2], count) end } }
  for i, peer in ipairs(spec.peers) do
    local request = table.move(peer, 2, #peer, 1, {})
    request[#request + 1] = count
    arms[i + 1] = { peer[1], function() return (bench.python():ask(table.unpack(request))) end }
  end
  local r = bench.alternate(bench.option("rounds", 9), arms)
  spec.poison()
  best[2]()
  spec.check()
  pcall(function() bench.python():ask("forget") end)
  local name = spec.peers[1][1]
  local row = spec.fields or {}
  for _, peer in ipairs(spec.peers) do
    local arm = r[peer[1]]
    if arm.median then
      row[peer[1]] = spec.bytes / arm.median * 1e-12
      if not r[name].median or arm.median < r[name].median then name = peer[1] end
    end
  end
  row.row, row.variant, row.variants, row.launches_per_batch = spec.row, best[1], rates, count
  row.value, row.unit = spec.bytes / r.ours.median * 1e-12, "TB/s"
  row.best = spec.bytes / r.ours.min * 1e-12
  row.peer, row.peer_value, row.peer_error = name, row[name], r[name].error
  row.ratio = bench.ratio(r[name], r.ours)
  bench.emit(row, spec.bar)
end
