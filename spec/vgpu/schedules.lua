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
local function fail(text, ...)
  wrong = wrong + 1
  print(text:format(...))
end

local function check(name, got, wanted, tolerance)
  for i, row in ipairs(wanted) do
    for j, v in ipairs(row) do
      checks = checks + 1
      if not (math.abs(got[i][j] - v) <= tolerance * math.max(1, math.abs(v))) then
        return fail("%s: row %d, column %d is %g instead of %g", name, i, j, got[i][j], v)
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

local function columns(t, from, to)
  local out = {}
  for i, row in ipairs(t) do out[i] = table.move(row, from, to, 1, {}) end
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

-- On the virtual GPU kernels are piped where they can be, and blocks stay alone only where they must.
local function check_piped(title, schedule, info)
  if is_virtual and SM == 90 and schedule.stages ~= 1 and info.unpiped then fail("%s: %s", title, info.unpiped) end
end
local granted = 0
local function check_cluster(title, info, wanted)
  granted = granted + (info.cluster == 2 and 1 or 0)
  if not is_virtual or info.cluster == (SM == 90 and wanted or 1) then return end
  fail("%s: clusters of %d instead of %d", title, info.cluster, wanted)
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
-- Widths that are no panels of 128 bytes; of 16 bits the last leaves in rounds.
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
  { 136, 200, 72, { 128, 96, 64 }, NARROW }, { 72, 168, 72, { 64, 80, 64 }, NARROW }, { 264, 152, 72, { 256, 160, 64 }, NARROW },
}

for _, shape in ipairs(SHAPES) do
  local m, n, depth, tile, given = table.unpack(shape)
  local a, bt = small_numbers(m, depth, 1), small_numbers(n, depth, 4)
  local wanted, b = product(a, bt), transpose(bt)
  local function multiply(p, name, ta, tb, schedules)
    each_schedule(("%s %s %s %dx%dx%d%s"):format(p[1], p[2], p[3], m, n, depth, name), schedules, function(title, schedule)
      local c = gpu.zeros({ m, n }, p[3])
      local f = k[p[1]]:with { BK = tile[3] }:with(schedule)
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

local shared = {
  check = check, check_cluster = check_cluster, check_piped = check_piped, columns = columns, each_schedule = each_schedule, fail = fail, is_virtual = is_virtual,
  k = k, placed = placed, product = product, small_numbers = small_numbers, split_bytes = split_bytes, transpose = transpose, wants_cluster = wants_cluster, SM = SM,
}
for _, name in ipairs { "loops", "sums", "attention", "groups", "fetch", "late", "sign", "parts" } do require("schedules_" .. name)(shared) end

print(("%d schedules ran, %d in clusters, %d were refused, %d elements, %d wrong"):format(ran, granted, refused, checks, wrong))
os.exit(wrong == 0 and (filter or ran > 100) and 0 or 1)
