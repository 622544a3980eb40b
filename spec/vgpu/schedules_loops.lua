-- Loads and products in loops and branches of every form, and what blocks store of them, for schedules.lua.
local gpu = require "gpulua"

return function(shared)
  local check, check_piped, columns, each_schedule, fail, k, product, small_numbers, transpose =
    shared.check, shared.check_piped, shared.columns, shared.each_schedule, shared.fail, shared.k, shared.product,
    shared.small_numbers, shared.transpose

  -- Loads in a loop inside of another, in a branch, at places that turns hand on, in loops that are left
  -- (after 64 columns), of operands that are computed, and of integers; in tiles that the tensor memory
  -- accelerator brings, and in others.
  for _, form in ipairs {
    { "nested", "bf16", "f32", 4, { 64, 32 } }, { "handed", "bf16", "f32", 2, { 64, 32 } }, { "left", "bf16", "bf16", 1, { 64, 32 } },
    { "nested", "bf16", "f32", 4, { 128, 64 } }, { "handed", "bf16", "f32", 2, { 128, 64 } }, { "left", "bf16", "bf16", 1, { 128, 64 } },
    { "whole", "i8", "i32", 1, { 64, 32 } }, { "decoded", "bf16", "f32", 4, { 64, 32 } }, { "decoded", "tf32", "f32", 4, { 64, 32 } },
  } do
    local name, dtype, out, times, tile = table.unpack(form)
    local a, bt = small_numbers(80, 104, 1), small_numbers(72, 104, 4)
    local ta, tb = gpu.from_table(a, dtype), gpu.from_table(name == "whole" and bt or transpose(bt), dtype)
    for _, row in ipairs(a) do
      for l = name == "left" and 65 or 105, 104 do row[l] = 0 end
    end
    local wanted = product(a, bt)
    for _, row in ipairs(wanted) do
      for j, sum in ipairs(row) do row[j] = times * sum end
    end
    local full = ("%s %dx%d"):format(name, tile[1], tile[2])
    each_schedule(full, { {}, { stages = 1 }, { stages = 2 }, { stages = 4 }, { warps = 8 } }, function(title, schedule)
      local c, f = gpu.zeros({ 80, 72 }, out), k[name]:with { BK = 32 }:with(schedule)
      f(c:tiles(tile), ta, tb):sync()
      check(title, c:to_table(), wanted, out == "bf16" and 2 ^ -8 or 0)
      if dtype == "bf16" and name ~= "decoded" and schedule.warps ~= 8 then check_piped(title, schedule, f:info(c:tiles(tile), ta, tb)) end
    end)
  end

  -- Products that two warpgroups issue by turns.
  do
    local m, n, depth = 256, 64, 160
    local a, b = small_numbers(m, depth, 1), small_numbers(depth, n, 4)
    local ta, tb, once = gpu.from_table(a, "bf16"), gpu.from_table(b, "bf16"), product(a, transpose(b))
    for form, times in pairs { [0] = 3, 2, 2, 7 } do
      local wanted = {}
      for i, row in ipairs(once) do
        wanted[i] = {}
        for j, x in ipairs(row) do wanted[i][j] = times * x end
      end
      each_schedule("turned " .. form, { {}, { stages = 2 }, { stages = 2, cluster = 2 } }, function(title, schedule)
        local c, f = gpu.zeros { m, n }, k.turned:with { BK = 32, NK = depth // 32, FORM = form }:with(schedule)
        f(c:tiles { 128, 64 }, ta, tb):sync()
        check(title, c:to_table(), wanted, 0)
        check_piped(title, schedule, f:info(c:tiles { 128, 64 }, ta, tb))
      end)
    end
  end

  do
    local m, n, depth = 192, 64, 160
    local a, b = small_numbers(m, depth, 1), small_numbers(depth, n, 4)
    local ta, tb = gpu.from_table(a, "bf16"), gpu.from_table(b, "bf16")
    for form, times in pairs { [0] = { 2, 1, 2, 1, 2, 1 }, { 4, 2, 4, 2, 4, 1 } } do
      local of_tiles = {}
      for i, row in ipairs(a) do
        of_tiles[i] = {}
        for l, x in ipairs(row) do of_tiles[i][l] = times[(l - 1) // 32 + 1] * x end
      end
      local wanted = product(of_tiles, transpose(b))
      for _, row in ipairs(wanted) do
        for j, sum in ipairs(row) do row[j] = sum + times[6] end
      end
      each_schedule("swapped " .. form, { {}, { stages = 2 }, { warps = 4 } }, function(title, schedule)
        local c, f = gpu.zeros { m, n }, k.swapped:with { BK = 32, FORM = form }:with(schedule)
        f(c:tiles { 64, 64 }, ta, tb):sync()
        check(title, c:to_table(), wanted, 0)
        check_piped(title, schedule, f:info(c:tiles { 64, 64 }, ta, tb))
      end)
    end
    local turns, tt, x, y = depth // 32, gpu.from_table(transpose(b), "bf16"), {}, {}
    for i = 1, m do x[i], y[i] = {}, {} end
    for l = 0, turns - 1 do
      local function part(t, turn) return columns(t, turn % turns * 32 + 1, turn % turns * 32 + 32) end
      for i, row in ipairs(product(part(a, l), part(transpose(b), l + 1))) do
        for j, sum in ipairs(row) do
          local before = x[i][j] or 0
          x[i][j], y[i][j] = sum + (y[i][j] or 3), math.max(math.min(before + 1, 32), -32)
        end
      end
    end
    each_schedule("taken", { {}, { warps = 4 } }, function(title, schedule)
      local c, f = gpu.zeros { m, n }, k.taken:with { BK = 32, NK = turns }:with(schedule)
      f(c:tiles { 192, 32 }, ta, tt, turns, 2):sync()
      check(title, c:to_table(), x, 0)
      check_piped(title, schedule, f:info(c:tiles { 192, 32 }, ta, tt, turns, 2))
    end)
  end

  -- What a block does not store stays; the failure of a check is told, and ends that block alone.
  do
    local a, b = small_numbers(256, 256, 1), small_numbers(256, 128, 4)
    local ta, tb = gpu.from_table(a, "bf16"), gpu.from_table(b, "bf16")
    local wanted, head = product(a, transpose(b)), product(columns(a, 1, 64), columns(transpose(b), 1, 64))
    for i, row in ipairs(wanted) do
      for j, sum in ipairs(row) do
        local turns = i > 64 and 3 or 4
        row[j] = i > 128 and 7 or 2 * sum + turns * head[i][j]
      end
    end
    each_schedule("parting", { {}, { persistent = false }, { stages = 1 }, { stages = 2 } }, function(title, schedule)
      local c, f = gpu.full({ 256, 128 }, 7, "bf16"), k.parting:with { BK = 64 }:with(schedule)
      f(c:tiles { 64, 64 }, ta, tb, 1):sync()
      check(title, c:to_table(), wanted, 2 ^ -8)
      check_piped(title, schedule, f:info(c:tiles { 64, 64 }, ta, tb, 1))
      for _, one in ipairs { 0, 3 } do
        local ok = pcall(function() f(gpu.zeros({ 256, 128 }, "bf16"):tiles { 64, 64 }, ta, tb, one):sync() end)
        if ok then fail("%s: no check failed with %d", title, one) end
      end
    end)
  end

  for _, shape in ipairs { { 128, 64, 256, 128 }, { 128, 128, 136, 264 }, { 192, 64, 200, 136 } } do
    local bm, bn, m, n = table.unpack(shape)
    local a, bt, c, r = small_numbers(m, 136, 1), small_numbers(n, 136, 4), small_numbers(m, n, 2), small_numbers(m, n, 5)
    local ta, tb, tr = gpu.from_table(a, "bf16"), gpu.from_table(transpose(bt), "bf16"), gpu.from_table(r, "bf16")
    local alone = product(a, bt)
    local wanted = {}
    for i, row in ipairs(alone) do
      wanted[i] = {}
      for j, sum in ipairs(row) do wanted[i][j] = sum + 2 * c[i][j] + r[i][j] end
    end
    each_schedule(("updated %dx%d"):format(bm, bn), { {}, { persistent = false }, { stages = 1 }, { stages = 2 } }, function(title, schedule)
      local tc, td, f = gpu.from_table(c, "bf16"), gpu.full({ m, n }, 0 / 0, "bf16"), k.updated:with { BK = 64 }:with(schedule)
      f(tc:tiles { bm, bn }, td:tiles { bm, bn }, ta, tb, tr):sync()
      check(title, tc:to_table(), wanted, 2 ^ -8)
      check(title, td:to_table(), alone, 2 ^ -8)
      check_piped(title, schedule, f:info(tc:tiles { bm, bn }, td:tiles { bm, bn }, ta, tb, tr))
    end)
  end

  do
    local a, b = small_numbers(136, 136, 1), small_numbers(136, 136, 4)
    local wanted, bt = product(a, transpose(b)), transpose(b)
    for i, row in ipairs(wanted) do
      for j, sum in ipairs(row) do
        row[j] = 2 * sum
        for l = 65, 128 do row[j] = row[j] + a[i][l] * bt[j][l] end
      end
    end
    local function tensor(t) return gpu.from_table(t, "bf16") end
    for _, bm in ipairs { 64, 128 } do
      each_schedule("apart " .. bm, { {}, { persistent = false }, { stages = 2 }, { cluster = 2 } }, function(title, schedule)
        local c, f = gpu.zeros { 136, 136 }, k.apart:with { BK = 64 }:with(schedule)
        local args = { tensor(a), tensor(b), tensor(a), tensor(b) }
        f(c:tiles { bm, 64 }, table.unpack(args)):sync()
        check(title, c:to_table(), wanted, 0)
        check_piped(title, schedule, f:info(c:tiles { bm, 64 }, table.unpack(args)))
      end)
    end
  end

  for _, shape in ipairs { { 64, 64, 16, 100, 168 }, { 128, 32, 256, 136, 96 } } do
    local bm, bn, depth, m, n = table.unpack(shape)
    local a, bt = small_numbers(m, depth, 1), small_numbers(n, depth, 4)
    local ta, tb, wanted = gpu.from_table(a, "bf16"), gpu.from_table(transpose(bt), "bf16"), product(a, bt)
    each_schedule(("once %dx%dx%d"):format(bm, bn, depth), { {}, { persistent = false }, { cluster = 2, stages = 2 } }, function(title, schedule)
      local c, f = gpu.full({ m, n }, 7), k.once:with { BN = bn, BK = depth }:with(schedule)
      f(c:tiles { bm, n }, ta, tb):sync()
      check(title, c:to_table(), wanted, 0)
      check_piped(title, schedule, f:info(c:tiles { bm, n }, ta, tb))
    end)
  end

  -- Two stages of tiles beside which there is no room for what is stored.
  do
    local a, bt = small_numbers(136, 264, 1), small_numbers(264, 264, 4)
    local ta, tb, wanted = gpu.from_table(a, "bf16"), gpu.from_table(transpose(bt), "bf16"), product(a, bt)
    each_schedule("tight", { {}, { persistent = false } }, function(title, schedule)
      local c, f = gpu.zeros({ 136, 264 }, "bf16"), k.plain:with { BK = 128 }:with(schedule)
      f(c:tiles { 128, 256 }, ta, tb):sync()
      check(title, c:to_table(), wanted, 2 ^ -8)
      check_piped(title, schedule, f:info(c:tiles { 128, 256 }, ta, tb))
    end)
  end

  local function wrapped(x) return (x + 2 ^ 31) % 2 ^ 32 - 2 ^ 31 end

  do
    local a, b = small_numbers(64, 6 * 64, 1), small_numbers(6 * 64, 64, 4)
    local ta, tb = gpu.from_table(a, "bf16"), gpu.from_table(b, "bf16")
    local parts, bt = {}, transpose(b)
    for l = 1, 6 do
      parts[l] = product(columns(a, l * 64 - 63, l * 64), columns(bt, l * 64 - 63, l * 64))
    end
    for _, case in ipairs {
      { 0, 7, 1, 9 }, { -2, -8, 2, 0 }, { 5, 100, 0, -100 }, { 0, 0, 2 ^ 31 // 5 - 1, 0 }, { 0, 0, 429496729, 100 }, { 2 ^ 31 - 4, 0, -2 ^ 31, 5 },
      { -2 ^ 31, 5, 3, -2 ^ 31 }, { 100, -100, -100, 4 },
    } do
      local from, step, shift, limit = table.unpack(case)
      local wanted = {}
      for i = 1, 64 do
        wanted[i] = {}
        for j = 1, 64 do
          local sum = 0
          for t = 0, 2 do
            local l = from + t
            sum = sum + parts[2 * t + 1][i][j]
            local is_twice, is_other = wrapped(5 * wrapped(l + shift)) > limit, wrapped(limit - wrapped(3 * l)) <= step
            sum = sum * (is_twice and 2 or 1) * (is_other and -1 or 1) + parts[2 * t + 2][i][j]
          end
          wanted[i][j] = sum
        end
      end
      each_schedule("bent " .. table.concat(case, " "), { {}, { stages = 2 } }, function(title, schedule)
        local c = gpu.zeros { 64, 64 }
        k.bent:with { BK = 64, stages = schedule.stages }(c:tiles { 64, 64 }, ta, tb, math.tointeger(from), step, math.tointeger(shift), math.tointeger(limit)):sync()
        check(title, c:to_table(), wanted, 0)
      end)
    end
  end
end
