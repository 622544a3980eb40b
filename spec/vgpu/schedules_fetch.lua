-- Tiles that are copied ahead, at edges too, for schedules.lua: products, another tensor and, in `renewed`, what was there; in
-- `unstored` some blocks store nothing.
local gpu = require "gpulua"

local function is_left(name, tile, i, j) return name == "unstored" and ((i - 1) // tile[1] + (j - 1) // tile[2]) % 2 == 0 end

return function(o)
  for _, name in ipairs { "residual", "renewed", "unstored" } do
    local m, n, depth, old = 472, 136, 200, name == "renewed" and 2 or 0
    local a, bt, more = o.small_numbers(m, depth, 1), o.small_numbers(n, depth, 4), o.small_numbers(m, n, 2)
    local ta, tb, tr = gpu.from_table(a, "bf16"), gpu.from_table(o.transpose(bt), "bf16"), gpu.from_table(more, "bf16")
    local products = o.product(a, bt)
    for _, tile in ipairs { { 128, 128 }, { 64, 64 }, { 192, 64 }, { 128, 96 } } do
      local wanted = {}
      for i, row in ipairs(products) do
        wanted[i] = {}
        for j, x in ipairs(row) do wanted[i][j] = is_left(name, tile, i, j) and old or x + more[i][j] + old end
      end
      o.each_schedule(name, { {}, { persistent = false }, { cluster = 2 }, { stages = 2 } }, function(title, schedule)
        local c = gpu.zeros({ m, n }, "bf16")
        c:fill(old)
        o.k[name]:with { BK = 64 }:with(schedule)(c:tiles(tile), ta, tb, tr):sync()
        o.check(title, c:to_table(), wanted, 2 ^ -8)
      end)
    end
  end
end
