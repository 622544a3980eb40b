-- What is made of products' sums, and products of converted numbers, for schedules.lua.
local gpu = require "gpulua"

return function(shared)
  local check, check_piped, each_schedule, fail, k, product, small_numbers, transpose, SM =
    shared.check, shared.check_piped, shared.each_schedule, shared.fail, shared.k, shared.product,
    shared.small_numbers, shared.transpose, shared.SM

  -- 8-bit products, whose sums are added to accumulators: all at once, and in parts of rows and of columns. From
  -- no turns to three, in whole tiles and at edges.
  for _, tile in ipairs { { 128, 128, true }, { 256, 128, false }, { 128, 256, false }, { 128, 160, true } } do
    local bm, bn, is_beside = table.unpack(tile)
    for turns = 0, SM >= 89 and 3 or -1 do
      local m, n, depth = bm + 8 * turns, bn - 8 * turns, 32 * turns
      local a, bt, bias = small_numbers(m, depth, 1), small_numbers(n, depth, 4), small_numbers(1, n, 2)[1]
      local function operands(dtype)
        if turns == 0 then return gpu.zeros({ m, 0 }, dtype), gpu.zeros({ n, 0 }, dtype) end
        return gpu.from_table(a, dtype), gpu.from_table(bt, dtype)
      end
      local once, wanted = product(a, bt), { {}, {} }
      for i = 1, m do
        wanted[1][i], wanted[2][i] = {}, {}
        for j = 1, n do
          local x, y = bias[j] + 3 * once[i][j], 0
          for l = 1, depth do
            x = x + a[i][(l - 1) % 32 + 1] * bt[j][l]
            local times = 2 ^ (turns - 1 - (l - 1) // 32)
            y = y + (is_beside and times + times * 2 ^ turns or 0) * a[i][l] * bt[j][l]
          end
          wanted[1][i][j], wanted[2][i][j] = x, y
        end
      end
      local title = ("8 bits %dx%d %d"):format(bm, bn, turns)
      each_schedule(title, { {}, { persistent = false, stages = 2 }, { cluster = 2 } }, function(full, schedule)
        local c, f = gpu.full({ m, n }, 0 / 0), k.transposed:with { BK = 32 }:with(schedule)
        local ta, tb = operands "f8e4m3fn"
        f(c:tiles { bm, bn }, ta, tb):sync()
        check(full, c:to_table(), once, 0)
        if turns > 0 then check_piped(full, schedule, f:info(c:tiles { bm, bn }, ta, tb)) end
      end)
      each_schedule(title .. " beside", { {}, { stages = 2 } }, function(full, schedule)
        local c, d, f = gpu.full({ m, n }, 0 / 0), gpu.full({ m, n }, 0 / 0), k.eighths:with { BK = 32, BESIDE = is_beside }:with(schedule)
        local ta, tb = operands "f8e5m2"
        local args = { c:tiles { bm, bn }, d:tiles { bm, bn }, ta, tb, gpu.from_table(bias, "f32") }
        f(table.unpack(args)):sync()
        check(full, c:to_table(), wanted[1], 0)
        check(full, d:to_table(), wanted[2], 0)
        if turns > 0 then check_piped(full, schedule, f:info(table.unpack(args))) end
      end)
    end
  end

  -- What reductions, scans and changes of shape make of a product, along its rows and its columns.
  for _, bm in ipairs { 64, 128, 192 } do
    local m, n, depth = bm + 8, 72, 72
    local a, bt = small_numbers(m, depth, 1), small_numbers(n, depth, 4)
    local ta, tb, alone = gpu.from_table(a, "bf16"), gpu.from_table(transpose(bt), "bf16"), product(a, bt)
    local function padded(i, j) return alone[i] and alone[i][j] or 0 end
    local rows, columns, along, down, eighths = {}, { {}, {} }, {}, {}, {}
    for i = 1, m do
      local sum = 0
      along[i], down[i], rows[i], eighths[i] = {}, {}, {}, {}
      for j = 1, n do
        local sums, first = j > 64 and sum or 0, (i - 1) // bm * bm + 1
        along[i][j] = padded(i, j) + (j > 1 and j ~= 65 and along[i][j - 1] or 0)
        down[i][j] = padded(i, j) + (i > first and down[i - 1][j] or 0)
        sum = sums
      end
      for part = 1, 2 do
        rows[i][part] = -math.huge
        for j = 64 * part - 63, 64 * part do rows[i][part] = math.max(rows[i][part], padded(i, j)) end
        for column = 1, 8 do
          local total = 0
          for j = 64 * part - 64 + column, 64 * part, 8 do total = total + padded(i, j) end
          eighths[i][8 * (part - 1) + column] = total
        end
      end
    end
    for part = 1, 2 do
      for j = 1, n do
        columns[part][j] = 0
        for i = (part - 1) * bm + 1, part * bm do columns[part][j] = columns[part][j] + padded(i, j) end
      end
    end
    each_schedule("gathered " .. bm, { {}, { persistent = false, stages = 2 }, { stages = 1 } }, function(title, schedule)
      local f, out = k.gathered:with { BK = 64, N = 8 }:with(schedule), {}
      for i, shape in ipairs { { m, 2 }, { 2, n }, { m, n }, { m, n }, { n, m }, { m, 16 } } do out[i] = gpu.full(shape, 0 / 0) end
      local args = {
        out[1]:tiles { bm, 1 }, out[2]:tiles { 1, 64 }, out[3]:tiles { bm, 64 }, out[4]:tiles { bm, 64 }, out[5]:permute({ 2, 1 }):tiles { bm, 64 },
        out[6]:tiles { bm, 8 }, ta, tb,
      }
      f(table.unpack(args)):sync()
      for i, wanted in ipairs { rows, columns, along, down, transpose(alone), eighths } do check(title .. " " .. i, out[i]:to_table(), wanted, 0) end
      check_piped(title, schedule, f:info(table.unpack(args)))
    end)
  end

  -- Quotients are those of the CPU, to the last bit: special numbers by special numbers, and those that are hard to divide.
  do
    local quotients = require "quotients"
    local f32, bits, special = quotients.f32, quotients.bits, quotients.special
    local m, n = 128, 192
    local a, bt, ones = small_numbers(m, 64, 1), small_numbers(n, 64, 4), {}
    for i = 1, n do ones[i] = { 1 } for l = 2, 64 do ones[i][l] = 0 end end
    local tables = { special = { a, bt, {}, {} }, hard = { table.move(ones, 1, m, 1, {}), ones, {}, {} } }
    tables.small = { tables.hard[1], ones, {}, {} }
    for j = 1, n do
      tables.special[4][j] = j % 4 == 0 and 1 + j / 11 or special[j % #special + 1]
      tables.small[4][j] = quotients.odd()
      tables.hard[4][j] = j > m and j % 9 == 0 and special[j % #special + 1] or tables.small[4][j]
    end
    for i = 1, m do
      local hard = quotients.hard(tables.hard[4][i])
      tables.special[3][i] = i % 3 == 0 and 1 + i / 7 or special[i % #special + 1]
      tables.hard[3][i] = hard[i % #hard + 1] or 1
      tables.small[3][i] = tables.hard[3][i] * 2.0 ^ -(100 + i // 8)
    end
    local function compare(title, got, operands)
      for i, row in ipairs(got) do
        for j, q in ipairs(row) do
          local x, y = operands(i, j)
          if bits(q) ~= bits(f32(x / y)) then return fail("%s: %a / %a is %a instead of %a", title, x, y, q, f32(x / y)) end
        end
      end
    end
    for which, t in pairs(tables) do
      local alone, ta, tb = product(t[1], t[2]), gpu.from_table(t[1], "bf16"), gpu.from_table(transpose(t[2]), "bf16")
      local t_above, t_below = gpu.from_table(t[3], "f32"), gpu.from_table(t[4], "f32")
      local above, below = t_above:to_table(), t_below:to_table()
      each_schedule("divided " .. which, { {}, { stages = 1 }, { warps = 4 } }, function(title, schedule)
        local c, f = gpu.zeros { m, n }, k.divided:with { BK = 64 }:with(schedule)
        f(c:tiles { 128, 64 }, ta, tb, t_above, t_below):sync()
        compare(title, c:to_table(), function(i, j) return f32(alone[i][j] * above[i]), below[j] end)
        k.inverted:with { BK = 64 }:with(schedule)(c:tiles { 128, 64 }, ta, tb, t_below):sync()
        compare(title, c:to_table(), function(i, j) return 1, f32(alone[i][j] * below[j]) end)
        check_piped(title, schedule, f:info(c:tiles { 128, 64 }, ta, tb, t_above, t_below))
      end)
    end
  end

  do
    local a, b, added = small_numbers(128, 96, 1), small_numbers(96, 64, 6), small_numbers(128, 128, 2)
    local ta, tb, te = gpu.from_table(a, "bf16"), gpu.from_table(b, "bf16"), gpu.from_table(added, "f32")
    local across, wanted = transpose(b), {}
    for i, row in ipairs(a) do
      wanted[i] = {}
      for j, column in ipairs(across) do
        local sum = 0
        for l = 1, 96 do sum = sum + (l <= 32 and 3 or 1) * row[l] * column[l] end
        wanted[i][j] = sum + 2 * (added[i][j] + added[i][j + 64])
      end
    end
    each_schedule("within", { {}, { stages = 2 }, { persistent = false }, { cluster = 2 } }, function(title, schedule)
      local c = gpu.full({ 128, 64 }, 0 / 0)
      local f, grid = k.within:with { BK = 32 }:with(schedule), c:tiles { 128, 64 }
      f(grid, ta, tb, te):sync()
      check(title, c:to_table(), wanted, 0)
      check_piped(title, schedule, f:info(grid, ta, tb, te))
    end)
  end

  do
    local a, scale, b = small_numbers(256, 160, 1), small_numbers(256, 160, 4), small_numbers(160, 128, 6)
    local scaled = {}
    for i, row in ipairs(a) do
      scaled[i] = {}
      for j, x in ipairs(row) do scaled[i][j] = x * scale[i][j] end
    end
    local wanted = product(scaled, transpose(b))
    local ta, ts, tb = gpu.from_table(a, "i8"), gpu.from_table(scale, "f32"), gpu.from_table(b, "bf16")
    for _, tile in ipairs { { 128, 64, 32 }, { 128, 128, 64 }, { 256, 64, 32 } } do
      each_schedule("restored " .. table.concat(tile, "x"), { {}, { stages = 2 }, { persistent = false }, { cluster = 2 } }, function(title, schedule)
        local c = gpu.full({ 256, 128 }, 0 / 0)
        local f, grid = k.restored:with { BK = tile[3] }:with(schedule), c:tiles { tile[1], tile[2] }
        f(grid, ta, ts, tb):sync()
        check(title, c:to_table(), wanted, 0)
        check_piped(title, schedule, f:info(grid, ta, ts, tb))
      end)
    end
  end
end
