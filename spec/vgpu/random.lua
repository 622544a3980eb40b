-- Random tile kernels with products: the device gives the bytes that the CPU gives, under schedules that are drawn too.
-- All numbers are small integers, so that sums are exact in any order.
--
--   [GPULUA_LIBCUDA=.../libgpulua-vgpu.so] gpulua spec/vgpu/random.lua [FIRST [COUNT]]
--
-- A kernel is its seed; one seed with a COUNT of 1 prints it.
local gpu = require "gpulua"
local first, count = tonumber(arg[1] or 1), tonumber(arg[2] or 60)
local SM = assert(gpu.device "cuda:0").sm

local function one(list) return list[math.random(#list)] end
local function chance(p) return math.random() < p end
local function one_of_first(most, list) return list[math.random(most)] end
-- Words in the place of $names: texts, numbers, or functions that make one for each place.
local function fill(text, words)
  return (text:gsub("%$(%w+)", function(name)
    local word = words[name]
    return type(word) == "function" and word() or word
  end))
end

-- The first of each list are what copies can bring.
local TYPES = {
  { T = "bf16", R = "f32" }, { T = "bf16", R = "f32" }, { T = "f16", R = "f32" }, { T = "tf32", R = "f32" }, { T = "f32", R = "f32" },
  { T = "f64", R = "f64" }, { T = "i8", R = "i32" }, { T = "f8e4m3fn", R = "f32", sm = 89 }, { T = "f8e5m2", R = "f32", sm = 89 },
}
local ROWS = { 64, 128, 128, 1, 4, 8, 12, 16, 24, 64, 2, 3, 5, 7, 17, 20, 56, 100, 192 }
local COLUMNS, DEPTHS = { 16, 32, 64, 64, 128, 8, 24, 80 }, { 32, 64, 64, 16, 48 }
local SCHEDULES = {
  { stages = 1 }, { stages = 2 }, { stages = 4 }, { warps = 4 }, { warps = 8 }, { warps = 16 }, { warps = 1 }, { persistent = false },
  { cluster = 2 }, { cluster = 2, stages = 2 }, { warps = 8, stages = 2, persistent = false },
}

-- Tiles [rows, columns] of a product's operand. The tensors x, y have an element type, then extents; $at is the place of
-- the tile, $l that on the axis of the turns.
local OPERANDS = {
  { "$x.partition(shape![$rows, $columns]).load([$at])", x = { "$T", "$down", "$along" } },
  { "$x.load_tile(shape![$rows, $columns], [$at])", x = { "$T", "$down", "$along" } },
  { "$x.partition(shape![$columns, $rows]).load([$back]).transpose()", x = { "$T", "$along", "$down" } },
  { "$x.partition(shape![1, $rows, $columns]).load([1, $at]).reshape(shape![$rows, $columns])", x = { "$T", "2", "$down", "$along" } },
  { "convert_tile::<$T>(convert_tile::<f32>($x.partition(shape![$rows, $columns]).load([$at])))", x = { "i8", "$down", "$along" } },
  { "convert_tile::<$T>(convert_tile::<f32>($x.partition(shape![$rows, $columns]).load([$at]))" ..
    " * $y.load_tile(shape![1, $columns], [0, 0]).broadcast(shape![$rows, $columns]))", x = { "bf16", "$down", "$along" }, y = { "f32", "1", "$columns" } },
  { "$x.load_tile(shape![$rows, $columns], [{ let l = $l; tile_to_scalar($y.load_tile(shape![1], [l % 5]).reshape(shape![])) }, 0])",
    x = { "$T", "$down", "$along" }, y = { "i32", "5" } },
  { "cat($x.load_tile(shape![$half, $columns], [0, $l]), $x.load_tile(shape![$half, $columns], [1, $l]), 0)",
    x = { "$T", "$down", "$along" }, is_fit = function(rows) return rows % 2 == 0 end },
}
-- Tiles that are read beside products.
local BESIDE = {
  { "$x.load_tile(shape![$M, $N], [i, $l])", x = { "$S", "$m", "$wide" } },
  { "$x.partition(shape![$M, $N]).load([i, $l])", x = { "$S", "$m", "$wide" } },
  { "$x.load_tile(shape![1, $N], [$l, 0]).broadcast(shape![$M, $N])", x = { "$S", "$turns", "$N" } },
  { "$x.load_tile(shape![$N], [$l]).reshape(shape![1, $N]).broadcast(shape![$M, $N])", x = { "$S", "$wide" } },
  { "$x.load_tile(shape![$M, 1], [i, $l]).broadcast(shape![$M, $N])", x = { "$S", "$m", "$turns" } },
}
-- What a turn begins with, and ends with; $l is its index, below $turns.
local LOOPS = {
  { "for $l in 0..$turns {" }, { "for $l in $begin..$end {" }, { "for $l in (0..$end).step_by(2) {" },
  { "for $c in 0..$times { let $l = tile_to_scalar($x.load_tile(shape![1, 1], [$c % 6, 1]).reshape(shape![]));", x = { "i32", "6", "2" } },
  { "for $c in 0..$times { let $l = (tile_to_scalar($x.load_tile(shape![1], [$c / 2]).reshape(shape![])) + $c % 2) % $turns;", x = { "i32", "6" } },
  { "for $l in (0..$turns).rev() {" }, { "let mut $c = 0; while $c < $end { let $l = $c; $c += 1;" },
  { "let mut $l = i % $turns; for _ in 0..$end {", "$l = ($l + 1) % $turns;" },
  { "let (mut $l, mut $c) = (0, $turns - 1); for _ in 0..$end {", "($l, $c) = ($c, ($l + 1) % $turns);" },
}
local STEPS = {
  "acc = mma($a, $b, acc);", "acc = mma($a, $b, acc);", "acc = acc + mma($a, $b, $zero);", "if $known { acc = mma($a, $b, acc); }",
  "acc = if $known { mma($a, $b, acc) } else { acc + $beside };", "acc = acc + $beside;", "acc = select(gt_tile($beside, $zero), acc, -acc);",
  "(acc, other) = (other, acc);", "sums = sums + reduce_max($small, 1).reshape(shape![$M, 1]);", "sums = sums + reduce_sum($small, 1).reshape(shape![$M, 1]);",
  "acc = acc + reduce_max($small, 0).reshape(shape![1, $N]).broadcast(shape![$M, $N]);", "acc = acc + scan_sum($small, 0, reverse::Forward, $R::ZERO);",
  "acc = mma($held, $b, acc);", "acc = mma($a, $b, acc); acc = mma($held, $b, acc + other);", "for _ in 0..2 { acc = mma($a, $b, acc); }",
}
local KNOWN = { "$l != 1", "$l % 2 == 0", "$l < 2", "i == 0" }

local Kernel = {}
Kernel.__index = Kernel

function Kernel:tensor(of, words, low, high)
  local dims, free = {}, {}
  for i = 2, #of do dims[#dims + 1], free[#free + 1] = math.tointeger(tonumber(fill(of[i], words))), "-1" end
  local a = { dtype = fill(of[1], words), dims = dims, low = low, high = high, salt = math.random(1000) }
  if a.dtype == "i32" and words.turns then a.low, a.high = 0, words.turns - 1 end
  if #dims == 2 and not self.is_aligned and chance(0.2) then a.before = one { 1, 2, 4, 8 } end
  self.args[#self.args + 1] = a
  self.params[#self.params + 1] = ("t%d: &Tensor<%s, {[%s]}>"):format(#self.args, a.dtype, table.concat(free, ", "))
  return "t" .. #self.args
end

-- The words of a form, with its tensors.
function Kernel:open(form, words, low, high)
  for _, name in ipairs { "x", "y" } do
    if form[name] then words[name] = self:tensor(form[name], words, low, high) end
  end
  return words
end

function Kernel:scalar(value)
  self.args[#self.args + 1] = value
  self.params[#self.params + 1] = ("s%d: i32"):format(#self.args)
  return "s" .. #self.args
end

function Kernel:pick(most, list) return self.is_plain and one_of_first(most, list) or one(list) end
function Kernel:ragged(n, tile) return self.is_ragged and n - math.random(0, tile - 1) or n end
function Kernel:extent(n) return self.is_aligned and (n + 15) // 16 * 16 or n end
function Kernel:number(v) return v .. (self.R == "i32" and "i32" or ".0" .. self.R) end
function Kernel:constant(v, rows, columns) return ("constant(%s, shape![%d, %d])"):format(self:number(v), rows, columns) end

-- A function of a turn's index to the text of a tile. Turns go along the rows or the columns; `place` is that on the other axis.
function Kernel:operand(rows, columns, is_down, place, extent)
  local form = self:pick(4, OPERANDS)
  if form.is_fit and (is_down or not form.is_fit(rows)) then form = OPERANDS[1] end
  local down = is_down and self:ragged(self.turns * rows, rows) or extent
  local along = is_down and extent or self:ragged(self.turns * columns, columns)
  local words = self:open(form, { T = self.T, rows = rows, columns = columns, half = rows // 2, down = self:extent(down), along = self:extent(along), turns = self.turns }, -2, 2)
  return function(l)
    words.l = l
    words.at, words.back = place .. ", " .. l, l .. ", " .. place
    if is_down then words.at, words.back = words.back, words.at end
    return fill(form[1], words)
  end
end

function Kernel:beside(l)
  local S = one(self.R == "i32" and { "i32", "i8" } or self.R == "f64" and { "f64" } or { "f32", "bf16", "i8" })
  local form = one(BESIDE)
  local wide = self:extent(self:ragged(self.turns * self.N, self.N))
  local words = self:open(form, { S = S, M = self.M, N = self.N, m = self.m, wide = wide, turns = self.turns }, -3, 3)
  words.turns, words.l = nil, l
  local text = fill(form[1], words)
  return S == self.R and text or ("convert_tile::<%s>(%s)"):format(self.R, text)
end

function Kernel:small(v, rows, columns)
  return ("max_tile(min_tile(%s, %s), %s)"):format(v, self:constant(3, rows, columns), self:constant(-3, rows, columns))
end

function Kernel:add(text, words) self.lines[#self.lines + 1] = fill(text, words) end

-- The index of a loop's turns, and what closes it.
function Kernel:loop()
  self.loops = (self.loops or 0) + 1
  local form, n = self:pick(5, LOOPS), self.turns
  local words = { l = "l" .. self.loops, c = "c" .. self.loops, turns = n, begin = self:scalar(math.random(0, n)), times = self:scalar(math.random(0, 8)), ["end"] = self:scalar(n) }
  self:add(form[1], self:open(form, words))
  return words.l, function() self:add((form[2] or "") .. " }", words) end
end

function Kernel:products()
  local M, N = self.M, self.N
  local a, b = self:operand(M, self.K, false, "i", self.m), self:operand(self.K, N, true, "j", self.n)
  local words = { M = M, N = N, R = self.R, zero = self:constant(0, M, N), held = "held", small = self:small("acc", M, N), first = a "0" }
  self:add("let mut acc: Tile<$R, {[$M, $N]}> = $zero; let mut other = acc + " .. self:constant(1, M, N) .. "; let held = $first;", words)
  self:add("let mut sums = " .. self:constant(0, M, 1) .. ";", words)
  local is_nested = chance(0.2)
  if is_nested then self:add("for _ in 0..2 {", words) end
  local l, close = self:loop()
  words.l, words.known = l, fill(one(KNOWN), { l = l })
  function words.a() return a(l) end
  function words.b() return b(l) end
  function words.beside() return self:beside(l) end
  for _ = 1, math.random(0, 3) do self:add(one(STEPS), words) end
  self:add("acc = mma($a, $b, acc);", words)
  close()
  if is_nested then self:add("}", words) end
  self:add("acc = acc + other + sums.broadcast(shape![$M, $N]);", words)
end

-- Two products, of which the second takes the first one's sums; [M, N] in the end, over tiles of DEEP keys.
function Kernel:attention()
  local M, N, DEEP = self.M, self.N, one { 16, 32, 64 }
  local query, key = self:operand(M, self.K, false, "i", self.m), self:operand(self.K, DEEP, false, "0", self.K)
  local v = self:operand(DEEP, N, true, "j", self.n)
  local words = { M = M, N = N, D = DEEP, R = self.R, T = self.T, query = query "0", zero = self:constant(0, M, DEEP), small = self:small("s", M, DEEP) }
  self:add("let q = $query; let mut acc: Tile<$R, {[$M, $N]}> = " .. self:constant(0, M, N) .. ";", words)
  self:add("let mut most = " .. self:constant(-9, M, 1) .. "; let mut sums = " .. self:constant(0, M, 1) .. ";", words)
  local l, close = self:loop()
  words.key, words.v, words.l = key(l), v(l), l
  self:add("let s = mma(q, $key, $zero);", words)
  if chance(0.4) then
    self:add("let column = (iota::<i32>(shape![$D]) + $l * $D).reshape(shape![1, $D]).broadcast(shape![$M, $D]);", words)
    self:add("let s = select(lt_tile(column, " .. self:scalar(math.random(1, 99)) .. ".broadcast(shape![$M, $D])), s, -s);", words)
  end
  self:add("let s = $small; let next = max_tile(most, reduce_max(s, 1).reshape(shape![$M, 1]));", words)
  self:add("acc = acc + (next - most).broadcast(shape![$M, $N]); sums = sums + reduce_sum(s, 1).reshape(shape![$M, 1]); most = next;", words)
  self:add("let w: Tile<$T, {[$M, $D]}> = convert_tile(s); acc = mma(w, $v, acc);", words)
  close()
  self:add("acc = acc + sums.broadcast(shape![$M, $N]);", words)
end

local function draw(seed)
  math.randomseed(seed)
  local k = setmetatable({ args = {}, params = {}, lines = {}, turns = math.random(1, 4), is_ragged = chance(0.5), is_aligned = chance(0.5) }, Kernel)
  k.is_plain = chance(0.7)
  for name, v in pairs(k:pick(4, TYPES)) do k[name] = v end
  k.M, k.N, k.K = k:pick(10, ROWS), k:pick(5, COLUMNS), k:pick(3, DEPTHS)
  k.m, k.n = k:ragged(k.M * math.random(1, 2), k.M), k:ragged(k.N * math.random(1, 2), k.N)
  k[one { "products", "products", "attention" }](k)
  k.O = k.R == "f32" and chance(0.4) and "bf16" or k.R
  local words = { M = k.M, N = k.N, O = k.O, R = k.R, params = table.concat(k.params, ", "), lines = table.concat(k.lines, "\n    ") }
  k.text = fill([[
#[tile]
fn f(z: &mut Tensor<$O, {[$M, $N]}>, largest: &mut Tensor<$R, {[1, $N]}>, $params) {
    let (i, j, _) = get_tile_block_id();
    $lines
    largest.store(reduce_max(acc, 0).reshape(shape![1, $N]));
    z.store(]] .. (k.O == k.R and "acc" or "convert_tile(acc)") .. ");\n}", words)
  return k
end

local function numbers(a)
  local x = a.salt
  local function level(i)
    local t, before = {}, i == #a.dims and a.before or 0
    for j = 1, a.dims[i] + 2 * before do
      x = (x * 1103515245 + 12345) % 2147483648
      t[j] = i < #a.dims and level(i + 1) or a.low + (x // 65536) % (a.high - a.low + 1)
    end
    return t
  end
  return level(1)
end

local function place(a, device)
  if type(a) == "number" then return a end
  local t = assert(gpu.from_table(numbers(a), a.dtype):to(device))
  return a.before and t:slice({ 1, a.dims[1] }, { a.before + 1, a.before + a.dims[2] }) or t
end

-- The bytes of what it writes.
local function run(k, f, device)
  local z, most = assert(gpu.full({ k.m, k.n }, 77, k.O):to(device)), assert(gpu.zeros({ (k.m + k.M - 1) // k.M, k.n }, k.R):to(device))
  local args = { z:tiles { k.M, k.N }, most:tiles { 1, k.N } }
  for _, a in ipairs(k.args) do args[#args + 1] = place(a, device) end
  f(table.unpack(args)):sync()
  return z:to_bytes() .. most:to_bytes()
end

local function schedule_text(schedule)
  local parts = {}
  for name, v in pairs(schedule) do parts[#parts + 1] = name .. "=" .. tostring(v) end
  table.sort(parts)
  return table.concat(parts, " ")
end

local ran, refused, wrong = 0, 0, 0
local function check(seed, k, f, want, schedule)
  local is_run, got = pcall(run, k, f:with(schedule), "cuda:0")
  if not is_run and tostring(got):find("does not fit a block", 1, true) then
    refused = refused + 1
    return
  end
  ran = ran + 1
  if is_run and got == want then return end
  wrong = wrong + 1
  print(("seed %d, {%s}: %s"):format(seed, schedule_text(schedule), is_run and "other numbers" or tostring(got)))
  if not is_run then os.exit(false) end -- the device may be lost
end

for seed = first, first + count - 1 do
  local k = draw(seed)
  if count == 1 then print(k.text) end
  if SM >= (k.sm or 0) then
    local f = gpu.kernels(k.text, "seed " .. seed).f
    local want = run(k, f, "cpu")
    check(seed, k, f, want, {})
    for _ = 1, 2 do check(seed, k, f, want, one(SCHEDULES)) end
  end
end
print(("%d launches, %d wrong, %d do not fit a block"):format(ran, wrong, refused))
os.exit(wrong == 0)
