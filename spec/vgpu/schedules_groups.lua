-- Groups of rows that begin and end anywhere, and rows in any order, for schedules.lua.
local gpu = require "gpulua"

-- Rows of no group stay as they are.
local function groups_of_rows(o)
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
        local c = gpu.full({ rows, n }, -7, elem)
        local f = o.k.grouped:with { BM = tile[1], BN = tile[2], BK = tile[3], grid = { (127 + tile[1] - 1) // tile[1], (n + tile[2] - 1) // tile[2], groups } }:with(schedule)
        f(c, ta, tb, te):sync()
        o.check(title, c:to_table(), wanted, tolerance)
        o.check_piped(title, schedule, f:info(c, ta, tb, te))
      end)
    end
  end
end

local function any_rows(o)
  local m, n, depth = 200, 72, 104
  local a, bt, rows, wanted = o.small_numbers(90, depth, 3), o.small_numbers(n, depth, 4), {}, {}
  for i = 1, m do rows[i] = i % 9 == 0 and -1 or i * 37 % 90 end
  local none = {}
  for j = 1, depth do none[j] = 0 end
  for i = 1, m do wanted[i] = a[rows[i] + 1] or none end
  wanted = o.product(wanted, bt)
  local ta, tb, tr = gpu.from_table(a, "bf16"), gpu.from_table(o.transpose(bt), "bf16"), gpu.from_table(rows, "i32")
  for turns = 0, 2 do
    o.each_schedule("addressed " .. turns, { {}, { stages = 1 }, { stages = 2 }, { persistent = false }, { cluster = 2 } }, function(title, schedule)
      local c, f = gpu.full({ m, n }, -7, "bf16"), o.k.addressed:with { BK = 64 }:with(schedule)
      f(c:tiles { 128, 64 }, ta, tb, tr, turns):sync()
      if turns == 2 then o.check(title, c:to_table(), wanted, 2 ^ -8) end
      if turns == 0 then o.check(title, c:to_table(), gpu.zeros({ m, n }):to_table(), 0) end
      o.check_piped(title, schedule, f:info(c:tiles { 128, 64 }, ta, tb, tr, turns))
    end)
  end
end

return function(o)
  groups_of_rows(o)
  any_rows(o)
end
