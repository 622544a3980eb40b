-- Groups of rows that begin and end anywhere, for schedules.lua: rows of no group stay as they are.
local gpu = require "gpulua"

return function(o)
  local ends, rows, n, depth, groups = { 3, 73, 73, 200, 263 }, 270, 72, 104, 4
  local a, b, wanted = o.small_numbers(rows, depth, 3), {}, {}
  for i = 1, rows do
    wanted[i] = {}
    for j = 1, n do wanted[i][j] = -7 end
  end
  for g = 1, groups do
    b[g] = o.small_numbers(depth, n, g)
    local of = o.product({ table.unpack(a, ends[g] + 1, ends[g + 1]) }, o.transpose(b[g]))
    table.move(of, 1, #of, ends[g] + 1, wanted)
  end
  local ta, tb, te = gpu.from_table(a, "bf16"), gpu.from_table(b, "bf16"), gpu.from_table(ends, "i32")
  for _, tile in ipairs { { 128, 64, 64 }, { 64, 128, 32 }, { 192, 64, 64 } } do
    for elem, tolerance in pairs { bf16 = 2 ^ -8, f32 = 0 } do
      o.each_schedule("grouped " .. elem .. " " .. table.concat(tile, "x"), { {}, { stages = 1 }, { stages = 2 }, { persistent = true }, { cluster = 2 } }, function(title, schedule)
        local options = { BM = tile[1], BN = tile[2], BK = tile[3], grid = { (127 + tile[1] - 1) // tile[1], (n + tile[2] - 1) // tile[2], groups } }
        for field, value in pairs(schedule) do options[field] = value end
        local c = gpu.full({ rows, n }, -7, elem)
        local f = o.k.grouped:with(options)
        f(c, ta, tb, te):sync()
        o.check(title, c:to_table(), wanted, tolerance)
        o.check_piped(title, schedule, f:info(c, ta, tb, te))
      end)
    end
  end
end
