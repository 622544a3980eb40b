-- Tile kernels with matrix products under the schedules that can be asked for: right numbers, on
-- shapes that tiles divide and that they do not; on the virtual GPU also no report of the device.
--
--   [GPULUA_LIBCUDA=.../libgpulua-vgpu.so] gpulua spec/vgpu/schedules.lua [FILTER]
local folder = arg[0]:match("^(.*)/[^/]*$")
package.path = folder .. "/?.lua;" .. folder .. "/../bench/?.lua;" .. folder .. "/../run/?.lua;" .. package.path
local gpu = require "gpulua"
local source = require "gemm_source"

local is_virtual = assert(gpu.device "cuda:0").product == "virtual"
local filter = arg[1]
local SM = gpu.device("cuda:0").sm

local k = gpu.kernels(source("plain", "plain") .. source("transposed", "transposed") .. require "schedules_source")

local checks, wrong = 0, 0
local function check(name, got, wanted, tolerance)
  for i, row in ipairs(wanted) do
    for j, v in ipairs(row) do
      checks = checks + 1
      if not (math.abs(got[i][j] - v) <= tolerance * math.max(1, math.abs(v))) then
        wrong = wrong + 1
        print(("%s: row %d, column %d is %g instead of %g"):format(name, i, j, got[i][j], v))
        return
      end
    end
  end
end

local function small_numbers(rows, cols, salt)
  local t = {}
  for i = 1, rows do
    t[i] = {}
    for j = 1, cols do t[i][j] = (i * 7 + j * 3 + i * j % 5 + salt) % 7 - 3 end
  end
  return t
end

local function product(a, b)
  local c = {}
  for i = 1, #a do
    c[i] = {}
    for j = 1, #b do
      local sum, left, right = 0, a[i], b[j]
      for l = 1, #left do sum = sum + left[l] * right[l] end
      c[i][j] = sum
    end
  end
  return c
end

-- The tensor of a table, with `before` columns of other numbers in front of it, and others behind and below.
local function placed(rows, dtype, before)
  local wide, n = {}, #rows[1]
  for i = 1, #rows + 1 do
    wide[i] = {}
    for j = 1, n + 16 do wide[i][j] = rows[i] and rows[i][j - before] or 7 end
  end
  return gpu.from_table(wide, dtype):slice({ 1, #rows }, { before + 1, before + n })
end

local function transpose(t)
  local out = {}
  for j = 1, #t[1] do
    out[j] = {}
    for i = 1, #t do out[j][i] = t[i][j] end
  end
  return out
end

local function options_text(options)
  local names = {}
  for name in pairs(options) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do names[i] = name .. "=" .. tostring(options[name]) end
  return table.concat(names, " ")
end

-- Runs f(schedule) for each schedule; what the compiler refuses must be too large for a block.
local ran, refused = 0, 0
local function each_schedule(name, schedules, f)
  for _, schedule in ipairs(schedules) do
    local title = name .. " " .. options_text(schedule)
    if not filter or title:find(filter, 1, true) then
      local ok, err = pcall(f, title, schedule)
      if ok then
        ran = ran + 1
      elseif tostring(err):find("does not fit a block", 1, true) then
        refused = refused + 1
        print(title .. ": " .. tostring(err):match("[^\n]*"))
      else
        error(title .. ": " .. tostring(err), 0)
      end
    end
  end
end

-- On the virtual GPU blocks stay alone only where they must.
local granted = 0
local function check_cluster(title, info, wanted)
  granted = granted + (info.cluster == 2 and 1 or 0)
  if not is_virtual or info.cluster == (SM == 90 and wanted or 1) then return end
  wrong = wrong + 1
  print(("%s: clusters of %d instead of %d"):format(title, info.cluster, wanted))
end

-- Bytes of a tile whose rows, whole lines of the cache or more, begin within lines.
local function split_bytes(t, lines, width)
  local size = t.bytes // t.numel
  return width * size >= 128 and t.strides[1] * size % 128 ~= 0 and lines * width or 0
end
-- Whether the schedule gives clusters to a tile of so many rows, where they can be had.
local function wants_cluster(schedule, rows, is_split)
  local asked = schedule.cluster or is_split and 2 or 1
  return asked > 1 and schedule.persistent ~= false and schedule.stages ~= 1 and rows % (16 * (schedule.warps or 1)) == 0
end

local SCHEDULES = {
  {}, { persistent = false }, { persistent = true }, { stages = 1 }, { stages = 2 }, { stages = 3 }, { warps = 4 }, { warps = 8 },
  { cluster = 1 }, { cluster = 2 }, { cluster = 2, stages = 2 }, { cluster = 4, warps = 4 }, { cluster = 2, persistent = false }, { warps = 8, stages = 2, persistent = true },
}
-- Four warpgroups of consumers.
local WIDE = { {}, { warps = 8 }, { warps = 16 }, { warps = 16, stages = 2, persistent = false }, { cluster = 2 } }
-- Three, and one that has all the rows.
local THREE = { {}, { warps = 4 }, { warps = 12 }, { warps = 12, stages = 2, persistent = false }, { cluster = 2 } }
-- Widths that are no panels of 128 bytes.
local NARROW = { {}, { persistent = false }, { cluster = 2 } }
-- A tensor whose rows begin at no multiple of 16 bytes comes without the tensor memory accelerator.
local UNALIGNED = { {}, { stages = 1 }, { stages = 2 }, { stages = 4 }, { warps = 8 }, { warps = 16 } }
local PRODUCTS = {
  { "plain", "bf16", "f32", 0 }, { "plain", "bf16", "bf16", 2 ^ -8 }, { "plain", "f16", "f16", 2 ^ -10 },
  { "transposed", "bf16", "f32", 0 }, { "transposed", "tf32", "f32", 0 }, { "transposed", "f8e4m3fn", "f32", 0 },
}
local SHAPES = {
  { 256, 256, 192, { 128, 128, 64 } }, { 136, 264, 72, { 64, 128, 32 } }, { 130, 72, 40, { 64, 64, 64 } },
  { 264, 136, 136, { 128, 64, 64 } }, { 264, 136, 72, { 256, 128, 64 }, WIDE }, { 200, 136, 72, { 192, 128, 64 }, THREE },
  { 136, 200, 72, { 128, 96, 64 }, NARROW }, { 72, 168, 72, { 64, 80, 64 }, NARROW },
}

for _, shape in ipairs(SHAPES) do
  local m, n, depth, tile, given = table.unpack(shape)
  local a, bt = small_numbers(m, depth, 1), small_numbers(n, depth, 4)
  local wanted, b = product(a, bt), transpose(bt)
  local function multiply(p, name, ta, tb, schedules)
    each_schedule(("%s %s %s %dx%dx%d%s"):format(p[1], p[2], p[3], m, n, depth, name), schedules, function(title, schedule)
      local options = { BK = tile[3] }
      for key, value in pairs(schedule) do options[key] = value end
      local c = gpu.zeros({ m, n }, p[3])
      local f = k[p[1]]:with(options)
      f(c:tiles { tile[1], tile[2] }, ta, tb):sync()
      check(title, c:to_table(), wanted, p[4])
      local is_pipelined = name == "" and (p[2] ~= "f8e4m3fn" or depth % 16 == 0)
      local lines, width = tile[3], tile[2]
      if p[1] ~= "plain" then lines, width = width, lines end
      local is_split = 2 * (split_bytes(ta, tile[1], tile[3]) + split_bytes(tb, lines, width)) > tile[3] * (tile[1] + tile[2])
      local is_granted = is_pipelined and wants_cluster(schedule, tile[1], is_split)
      check_cluster(title, f:info(c:tiles { tile[1], tile[2] }, ta, tb), is_granted and 2 or 1)
    end)
  end
  for _, p in ipairs(PRODUCTS) do
    local second = p[1] == "plain" and b or bt
    if p[2] ~= "f8e4m3fn" or SM >= 89 then
      multiply(p, "", gpu.from_table(a, p[2]), gpu.from_table(second, p[2]), given or SCHEDULES)
    end
  end
  local unaligned = { PRODUCTS[1], PRODUCTS[4], PRODUCTS[5], { "plain", "tf32", "f32", 0 } }
  for _, p in ipairs((shape == SHAPES[1] or given) and {} or unaligned) do -- the largest would take minutes
    local second = p[1] == "plain" and b or bt
    local copied = p == PRODUCTS[1] and UNALIGNED or { {}, { stages = 2 } }
    for _, before in ipairs { 0, 1, 2, 4 } do
      multiply(p, (", %d columns off"):format(before), placed(a, p[2], before), placed(second, p[2], 1), copied)
    end
    multiply(p, ", of columns", gpu.from_table(transpose(a), p[2]):permute { 2, 1 },
      gpu.from_table(transpose(second), p[2]):permute { 2, 1 }, copied)
  end
end

-- The turns' tiles of `carried` and `counted` depend on the block's row by what a loop carries, so that
-- blocks of a cluster share the first operand; `added` reads what it writes, and its blocks stay alone.
-- `amid` has its tiles several times.
do
  local m, n, depth = 320, 136, 200
  local a, b = small_numbers(m, depth, 1), small_numbers(depth, n, 4)
  local ta, tb = gpu.from_table(a, "bf16"), gpu.from_table(b, "bf16")
  for _, case in ipairs { { "carried", 2 }, { "counted", 2 }, { "added", 1 }, { "amid", 2, { 8 + 16 + 4 + 2, 4, 2 + 1, 1 } } } do
    local name, clusters, times = table.unpack(case)
    local of_tiles = {}
    for i, row in ipairs(a) do
      of_tiles[i] = {}
      for l, x in ipairs(row) do of_tiles[i][l] = times and times[(l - 1) // 64 + 1] * x or x end
    end
    local wanted = product(of_tiles, transpose(b))
    each_schedule(name, { {}, { cluster = 1 }, { cluster = 2 } }, function(title, schedule)
      local f = k[name]:with { BK = 64, cluster = schedule.cluster }
      local c = gpu.zeros { m, n }
      f(c:tiles { 64, 64 }, ta, tb):sync()
      check(title, c:to_table(), wanted, 0)
      check_cluster(title, f:info(c:tiles { 64, 64 }, ta, tb), schedule.cluster == 1 and 1 or clusters)
    end)
  end
end

-- No blocks, and no turns.
each_schedule("empty", { {}, { persistent = false }, { persistent = true }, { cluster = 2 }, { stages = 1 } }, function(title, schedule)
  local f = k.plain:with { BK = 64 }:with(schedule)
  for _, shape in ipairs { { 0, 64, 64 }, { 64, 0, 64 }, { 64, 128, 0 } } do
    local m, n, depth = table.unpack(shape)
    local c = gpu.ones { m, n }
    f(c:tiles { 64, 64 }, gpu.zeros({ m, depth }, "bf16"), gpu.zeros({ depth, n }, "bf16")):sync()
    check(title, c:to_table(), product(small_numbers(m, 0, 0), small_numbers(n, 0, 0)), 0)
  end
end)

-- Loads in a loop inside of another, in a branch, at places that turns hand on, in loops that are left
-- (after 64 columns), of operands that are computed, and of integers; in tiles that the tensor memory
-- accelerator brings, and in others.
local function check_piped(title, schedule, info)
  if not is_virtual or SM ~= 90 or schedule.stages == 1 or not info.unpiped then return end
  wrong = wrong + 1
  print(title .. ": " .. info.unpiped)
end

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
    local options = { BK = 32 }
    for key, value in pairs(schedule) do options[key] = value end
    local c, f = gpu.zeros({ 80, 72 }, out), k[name]:with(options)
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
    local function part(t, turn)
      local out = {}
      for i, row in ipairs(t) do out[i] = table.move(row, turn % turns * 32 + 1, turn % turns * 32 + 32, 1, {}) end
      return out
    end
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
  local function part(t, from, to)
    local out = {}
    for i, row in ipairs(t) do out[i] = table.move(row, from, to, 1, {}) end
    return out
  end
  local wanted, head = product(a, transpose(b)), product(part(a, 1, 64), part(transpose(b), 1, 64))
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
      wrong = wrong + (ok and 1 or 0)
      if ok then print(title .. ": no check failed with " .. one) end
    end
  end)
end

local function capped(s)
  local t = math.exp(2 * s)
  return 3 * (t - 1) / (t + 1)
end

local function attended(q, keys, v, scale, is_causal, is_capped, bias)
  local out = {}
  for i = 1, #q do
    local weights, sum, most = {}, 0, -math.huge
    local seen = is_causal and i or #keys
    for j = 1, seen do
      local s = 0
      for d = 1, #q[i] do s = s + q[i][d] * keys[j][d] end
      s = (is_capped and capped(s * scale) or s * scale) + (bias and bias[i][j] or 0)
      weights[j], most = s, math.max(most, s)
    end
    out[i] = {}
    for j = 1, seen do
      weights[j] = 2 ^ (weights[j] - most)
      sum = sum + weights[j]
    end
    for d = 1, #v[1] do
      local s = 0
      for j = 1, seen do s = s + weights[j] * v[j][d] end
      out[i][d] = s / sum
    end
  end
  return out
end

-- Where masks are left out: by window and length, in tiles that are square and are not.
for _, case in ipairs { { 128, 64, 100, 320 }, { 64, 128, 70, 250 }, { 64, 64, 1000, 256 }, { 192, 64, 90, 300 } } do
  local bm, bn, window, length = table.unpack(case)
  local rows, depth = 256, 64
  local q, key, v = small_numbers(rows, depth, 0), small_numbers(320, depth, 2), small_numbers(320, depth, 5)
  local tq, tk, tv = gpu.from_table(q, "bf16"), gpu.from_table(key, "bf16"), gpu.from_table(v, "bf16")
  local wanted = {}
  for i = 1, rows do
    local first, last = math.max(1, i - window + 1), math.min(i, length)
    local function part(t) return table.move(t, first, last, 1, {}) end
    wanted[i] = attended({ q[i] }, part(key), part(v), 1 / 64)[1]
  end
  for form = 0, 3 do
    each_schedule(("seen %d %dx%d"):format(form, bm, bn), { {}, { persistent = true }, { stages = 2 } }, function(title, schedule)
      local options = { BN = bn, FORM = form }
      for field, value in pairs(schedule) do options[field] = value end
      local o = gpu.zeros { rows, depth }
      k.seen:with(options)(o:tiles { bm, depth }, tq, tk, tv, 1 / 64, window, length):sync()
      check(title, o:to_table(), wanted, 2 ^ -6)
    end)
  end
end

do
  local lengths, depth, q, key, v, wanted = { 100, 0, 192 }, 64, {}, {}, {}, {}
  for h, length in ipairs(lengths) do
    key[h], v[h] = small_numbers(192, depth, h), small_numbers(192, depth, h + 3)
    q[h], wanted[h] = {}, {}
    for i = 1, 256 do
      q[h][i], wanted[h][i] = {}, {}
      local at = i * 5 % depth + 1
      for d = 1, depth do
        q[h][i][d] = d == at and 1 or 0
        local sum = 0
        for j = 1, length do sum = sum + key[h][j][at] * v[h][j][d] end
        wanted[h][i][d] = sum
      end
    end
  end
  local tq, tk, tv = gpu.from_table(q, "bf16"), gpu.from_table(key, "bf16"), gpu.from_table(v, "bf16")
  local tl = gpu.from_table(lengths, "i32")
  for _, bm in ipairs { 64, 128 } do
    each_schedule("heads " .. bm, { {}, { persistent = true }, { persistent = false }, { stages = 2 } }, function(title, schedule)
      local options = { BN = 64 }
      for field, value in pairs(schedule) do options[field] = value end
      local o, f = gpu.full({ 3, 256, depth }, 0 / 0), k.heads:with(options)
      f(o:tiles { 3, bm, depth }, tq, tk, tv, tl):sync()
      for h, got in ipairs(o:to_table()) do check(title, got, wanted[h], 0) end
      check_piped(title, schedule, f:info(o:tiles { 3, bm, depth }, tq, tk, tv, tl))
    end)
  end
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

-- First operands that are loaded once stay in registers where they fit and are 16 bits wide, but not what comes with a second
-- one. The smallest tile of keys is half as large as what tiles lie apart.
for _, case in ipairs {
  { 64, 16, 16, 184, "bf16" }, { 64, 32, 80, 184, "f16" }, { 128, 16, 64, 248, "bf16" }, { 256, 16, 32, 264, "f16", 16 }, { 192, 16, 64, 392, "bf16" }, { 64, 16, 32, 120, "tf32" },
} do
  local bm, bn, depth, rows, dtype, warps = table.unpack(case)
  local q, key, parts = small_numbers(rows, depth, 1), small_numbers(3 * bn - 8, depth, 4), {}
  for j = 0, 2 do
    local part = table.move(key, j * bn + 1, math.min((j + 1) * bn, #key), 1, {})
    while #part < bn do part[#part + 1] = small_numbers(1, 0, 0)[1] end
    for d = 1, depth do
      for _, row in ipairs(part) do row[d] = row[d] or 0 end
    end
    parts[j] = product(q, part)
  end
  local wanted = { {}, {}, {}, {} }
  for r = 1, rows do
    local i = (r - 1) // bm
    for _, w in ipairs(wanted) do w[r] = {} end
    for col = 1, bn do
      local function part(j, row) return parts[j][row or r][col] end
      local twice = part(0) + part(1) + part(2)
      for j = 0, i - 1 do twice = 2 * twice + part(j) end
      local beside, around = 0, 0
      for j = 0, 2 do
        beside = 2 * beside + part(0) + part(j, r - (i - i // 2) * bm)
        local row = r - (i - math.min(j, i)) * bm
        if j <= i then around = around + part(0, row) + part(1, row) + part(2, row) end
        for l = 1, j <= i and i - 1 or 0 do around = 2 * around + part(l, row) end
      end
      wanted[1][r][col], wanted[2][r][col], wanted[3][r][col], wanted[4][r][col] = twice, twice, around, beside
    end
  end
  local first, second = gpu.from_table(q, dtype), gpu.from_table(key, dtype)
  for form = dtype == "tf32" and 1 or 0, 3 do
    local given = form > 0 and first or placed(transpose(q), dtype, 0)
    each_schedule(("held %d %s %dx%dx%d"):format(form, dtype, bm, bn, depth), { {}, { persistent = false, stages = 2 } }, function(title, schedule)
      local f = k.held:with { D = depth, FORM = form, warps = warps }:with(schedule)
      local c = gpu.zeros { rows, bn }
      f(c:tiles { bm, bn }, given, second):sync()
      check(title, c:to_table(), wanted[form + 1], 0)
      if not is_virtual or SM ~= 90 then return end
      check_piped(title, schedule, f:info(c:tiles { bm, bn }, given, second))
      local reads = f:inspect "ptx":match "ldmatrix[%w.]*"
      local is_right = (reads ~= nil) == (dtype ~= "tf32" and form < 3) and (not reads or (reads:find "trans" ~= nil) == (form == 0))
      wrong = wrong + (is_right and 0 or 1)
      if not is_right then print(title .. ": reads by " .. tostring(reads)) end
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
        checks = checks + 1
        if bits(q) ~= bits(f32(x / y)) then
          wrong = wrong + 1
          print(("%s: %a / %a is %a instead of %a"):format(title, x, y, q, f32(x / y)))
          return
        end
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

local function wrapped(x) return (x + 2 ^ 31) % 2 ^ 32 - 2 ^ 31 end

do
  local a, b = small_numbers(64, 6 * 64, 1), small_numbers(6 * 64, 64, 4)
  local ta, tb = gpu.from_table(a, "bf16"), gpu.from_table(b, "bf16")
  local parts, bt = {}, transpose(b)
  for l = 1, 6 do
    local function part(t)
      local out = {}
      for i, row in ipairs(t) do out[i] = table.move(row, l * 64 - 63, l * 64, 1, {}) end
      return out
    end
    parts[l] = product(part(a), part(bt))
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

local ATTENTION_SCHEDULES = {
  {}, { persistent = true }, { stages = 2 }, { warps = 4 }, { cluster = 1 }, { cluster = 2 }, { cluster = 2, persistent = true }, { cluster = 2, stages = 2 },
  { warps = 16 },
}
for _, case in ipairs {
  { 128, 256, 64, 64, 64, "attention" }, { 128, 192, 96, 64, 64, "attention" }, { 64, 128, 32, 64, 64, "attention" }, { 128, 128, 80, 128, 64, "attention" }, { 256, 128, 128, 128, 64, "attention" }, { 128, 384, 64, 128, 64, "attention" },
  { 192, 192, 64, 64, 64, "attention" }, { 256, 256, 64, 128, 64, "attention", true }, { 256, 256, 64, 128, 64, "masked", true },
  { 256, 384, 64, 128, 64, "attention", false, true }, { 512, 192, 64, 256, 64, "attention" }, { 256, 256, 64, 256, 64, "masked", true },
} do
  local rows, keys, depth, bm, bn, kernel, is_causal, is_capped = table.unpack(case)
  local q, key, v = small_numbers(rows, depth, 0), small_numbers(keys, depth, 2), small_numbers(keys, depth, 5)
  local scale = 1 / 64
  local wanted = attended(q, key, v, scale, is_causal, is_capped)
  local name = (is_causal and "causal " or is_capped and "capped " or "") .. kernel
  local function attend(suffix, tq, tk, tv)
    local title = ("%s %dx%dx%d%s"):format(name, rows, keys, depth, suffix)
    each_schedule(title, ATTENTION_SCHEDULES, function(full, schedule)
      local options = { BN = bn }
      if kernel == "attention" then options.CAUSAL, options.CAPPED = is_causal or false, is_capped or false end
      for field, value in pairs(schedule) do options[field] = value end
      local o = gpu.zeros { rows, depth }
      local f = k[kernel]:with(options)
      f(o:tiles { bm, depth }, tq, tk, tv, scale):sync()
      check(full, o:to_table(), wanted, 2 ^ -6)
      local is_granted = suffix == "" and not is_causal and wants_cluster(schedule, bm, split_bytes(tk, 1, depth) > 0)
      check_cluster(full, f:info(o:tiles { bm, depth }, tq, tk, tv, scale), is_granted and 2 or 1)
    end)
  end
  attend("", gpu.from_table(q, "bf16"), gpu.from_table(key, "bf16"), gpu.from_table(v, "bf16"))
  attend(", 4 columns off", placed(q, "bf16", 4), placed(key, "bf16", 4), placed(v, "bf16", 4))
end

-- Tiles that are read beside products: as deep as the ring or not, of elements of one to four bytes, at edges, used twice.
for _, case in ipairs {
  { 128, 256, 128, 64, "bf16" }, { 128, 192, 64, 64, "bf16", true }, { 200, 192, 128, 64, "f32" }, { 256, 256, 128, 128, "f32", true },
  { 128, 160, 128, 32, "i8" }, { 192, 192, 192, 64, "f16" }, { 256, 192, 256, 64, "bf16" }, { 128, 256, 128, 64, "u8", true },
} do
  local rows, keys, bm, bn, dtype, again = table.unpack(case)
  local q, key, v, bias = small_numbers(rows, 64, 0), small_numbers(keys, 64, 2), small_numbers(keys, 64, 5), small_numbers(rows, keys, 3)
  local sums = {}
  for i, row in ipairs(bias) do
    sums[i] = 0
    for j = 1, keys do
      row[j] = dtype == "u8" and row[j] + 3 or row[j]
      sums[i] = sums[i] + (again and row[j] or 0)
    end
  end
  local wanted = attended(q, key, v, 1 / 64, false, false, bias)
  for i, row in ipairs(wanted) do for d = 1, 64 do row[d] = row[d] + sums[i] end end
  local tq, tk, tv = gpu.from_table(q, "bf16"), gpu.from_table(key, "bf16"), gpu.from_table(v, "bf16")
  local tb = gpu.from_table({ bias, bias }, dtype)
  each_schedule(("biased %dx%d by %s%s"):format(rows, keys, dtype, again and ", again" or ""), ATTENTION_SCHEDULES, function(title, schedule)
    local options = { BN = bn, AGAIN = again or false }
    for field, value in pairs(schedule) do options[field] = value end
    local o = gpu.full({ rows, 64 }, 0 / 0)
    k.biased:with(options)(o:tiles { bm, 64 }, tq, tk, tv, tb, 1 / 64):sync()
    check(title, o:to_table(), wanted, 2 ^ -6)
  end)
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
    local options = { BK = 32 }
    for field, value in pairs(schedule) do options[field] = value end
    local c = gpu.full({ 128, 64 }, 0 / 0)
    local f, grid = k.within:with(options), c:tiles { 128, 64 }
    f(grid, ta, tb, te):sync()
    check(title, c:to_table(), wanted, 0)
    check_piped(title, schedule, f:info(grid, ta, tb, te))
  end)
end

do
  local a, b, pages = small_numbers(128, 128, 1), small_numbers(128, 64, 6), { 3, 0, 0, 2, 3, 1, 1 }
  local ta, tb, table_of = gpu.from_table(a, "bf16"), gpu.from_table(b, "bf16"), {}
  for i, page in ipairs(pages) do table_of[i] = { 9, page } end
  local tt, across, wanted = gpu.from_table(table_of, "i32"), transpose(b), {}
  for i, row in ipairs(a) do
    wanted[i] = {}
    for j, column in ipairs(across) do
      local sum = 0
      for _, page in ipairs(pages) do
        for l = 32 * page + 1, 32 * page + 32 do sum = sum + row[l] * column[l] end
      end
      wanted[i][j] = sum
    end
  end
  for _, bm in ipairs { 1, 4, 16, 24, 128 } do
    each_schedule("paged " .. bm, { {}, { stages = 2 }, { stages = 4 }, { persistent = false }, { stages = 1 } }, function(title, schedule)
      local options = { BK = 32 }
      for field, value in pairs(schedule) do options[field] = value end
      local c = gpu.full({ 128, 64 }, 0 / 0)
      k.paged:with(options)(c:tiles { bm, 64 }, ta, tb, tt):sync()
      check(title, c:to_table(), wanted, 0)
    end)
  end
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
      local options = { BK = tile[3] }
      for field, value in pairs(schedule) do options[field] = value end
      local c = gpu.full({ 256, 128 }, 0 / 0)
      local f, grid = k.restored:with(options), c:tiles { tile[1], tile[2] }
      f(grid, ta, ts, tb):sync()
      check(title, c:to_table(), wanted, 0)
      check_piped(title, schedule, f:info(grid, ta, ts, tb))
    end)
  end
end

do
  local rows, depth = 9 * 64, 64
  local q, key, v = {}, small_numbers(192, depth, 2), small_numbers(192, depth, 5)
  for i = 1, rows do
    q[i] = {}
    for j = 1, depth do q[i][j] = j == i * 5 % depth + 1 and 1 or 0 end
  end
  local tq, tk, tv = gpu.from_table(q, "bf16"), gpu.from_table(key, "bf16"), gpu.from_table(v, "bf16")
  local wanted = {}
  for i = 1, rows do
    wanted[i] = {}
    for d = 1, depth do
      local s = 1
      for j = 1, (i - 1) // 64 % 4 * 64 do s = s + (j > 128 and 0.5 or 1) * key[j][i * 5 % depth + 1] * v[j][d] end
      wanted[i][d] = s
    end
  end
  each_schedule("uneven", { {}, { persistent = true }, { persistent = false }, { stages = 2 } }, function(title, schedule)
    local options = { BN = 64 }
    for field, value in pairs(schedule) do options[field] = value end
    local o = gpu.full({ rows, depth }, 0 / 0)
    k.uneven:with(options)(o:tiles { 64, depth }, tq, tk, tv):sync()
    check(title, o:to_table(), wanted, 0)
  end)

  for i, row in ipairs(wanted) do
    local at = i * 5 % depth + 1
    for d = 1, depth do
      local sum = 0
      for c = 1, 64 do
        local first, second, third = key[c][at], key[c + 64][at], key[c + 128][at]
        sum = sum + (third + 0.5 * (first + second)) * v[c][d] + 2 * second * v[c + 64][d] + 2 * third * v[c + 128][d]
      end
      row[d] = sum
    end
  end
  each_schedule("deep", { {}, { persistent = false }, { stages = 2 } }, function(title, schedule)
    local options = { BN = 64 }
    for field, value in pairs(schedule) do options[field] = value end
    local o = gpu.zeros { rows, depth }
    k.deep:with(options)(o:tiles { 64, depth }, tq, tk, tv, 3, 1):sync()
    check(title, o:to_table(), wanted, 0)
  end)
end

local shared = {
  k = k, check = check, each_schedule = each_schedule, check_piped = check_piped, small_numbers = small_numbers, product = product, transpose = transpose,
}
for _, name in ipairs { "schedules_groups", "schedules_fetch" } do require(name)(shared) end

print(("%d schedules ran, %d in clusters, %d were refused, %d elements, %d wrong"):format(ran, granted, refused, checks, wrong))
os.exit(wrong == 0 and (filter or ran > 100) and 0 or 1)
