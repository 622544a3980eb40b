-- The tile track's structured operations: reductions, scans, moves of elements, products of
-- matrices, pointers and atomics, over whole tiles of several shapes, against plain Lua.
local gpu = require "gpulua"

-- Small integers are exact in every element type and in every order of summing.
local function numbers(h, count, low, high, ...)
  math.randomseed(h.seed_of(...))
  local t = {}
  for i = 1, count do t[i] = math.random(low, high) end
  return t
end

local function matrix(flat, rows, columns)
  local t = {}
  for i = 1, rows do
    t[i] = {}
    for j = 1, columns do t[i][j] = flat[(i - 1) * columns + j] end
  end
  return t
end

local function map2(rows, columns, f)
  local t = {}
  for i = 1, rows do
    t[i] = {}
    for j = 1, columns do t[i][j] = f(i, j) end
  end
  return t
end

local function flat_equal(a, b)
  if type(a) ~= "table" then return a == b, a, b end
  if #a ~= #b then return false, #a, #b end
  for i = 1, #a do
    local same, x, y = flat_equal(a[i], b[i])
    if not same then return false, x, y end
  end
  return true
end

-- Compares with what Lua computed.
local function check(h, what, tensor, want)
  local same, x, y = flat_equal(tensor:to_table(), want)
  h.check(same, "%s: %s, expected %s", what, tostring(x), tostring(y))
end

-- A kernel's text with one operator changed; what runs from it must be noticed.
local function changed(text, from, to)
  local made, count = text:gsub(from, to)
  assert(count > 0, from .. " is not in the kernel")
  return made
end

local function replaced(text, words) return (text:gsub("%$(%w+)", words)) end

local SHAPES = { { 1, 8 }, { 4, 4 }, { 8, 1 }, { 32, 32 }, { 2, 128 }, { 64, 16 } }
local DTYPES = { "f32", "f64", "f16", "bf16", "i32", "i64", "u8", "i16" }

local REDUCE = [[
  #[tile]
  fn rows<const M: i32, const N: i32>(z: &mut Tensor<$T, {[M]}>, x: &Tensor<$T, {[M, N]}>) {
      z.store($rows);
  }
  #[tile]
  fn columns<const M: i32, const N: i32>(z: &mut Tensor<$T, {[N]}>, x: &Tensor<$T, {[M, N]}>) {
      z.store($columns);
  }
]]

-- name, the kernel's expression over $x and axis $d, the same in Lua, and the expression with its
-- operator changed
local FOLDS = {
  { "sum", "reduce_sum($x, $d)", function(a, b) return a + b end, "reduce_max($x, $d)" },
  { "max", "reduce_max($x, $d)", math.max, "reduce_min($x, $d)" },
  { "min", "reduce_min($x, $d)", math.min, "reduce_max($x, $d)" },
  { "closure", "reduce($x, $d, $T::ZERO, |a, b| a + b)", function(a, b) return a + b end, "reduce($x, $d, $T::ZERO, |a, b| a * b)" },
}

local function fold(t, f)
  local acc = t[1]
  for i = 2, #t do acc = f(acc, t[i]) end
  return acc
end

local function column_of(x, j)
  local t = {}
  for i = 1, #x do t[i] = x[i][j] end
  return t
end

local function reductions(h, dtype)
  local load = "x.load_tile(shape![M, N], [0, 0])"
  for _, row in ipairs(FOLDS) do
    local name, text, f, other = table.unpack(row)
    local function module(expression)
      return gpu.kernels(replaced(REDUCE, {
        T = dtype, rows = expression:gsub("%$x", load):gsub("%$d", "1"):gsub("%$T", dtype),
        columns = expression:gsub("%$x", load):gsub("%$d", "0"):gsub("%$T", dtype),
      }), "reduce")
    end
    local k, wrong = module(text), module(other)
    for _, shape in ipairs(SHAPES) do
      local m, n = shape[1], shape[2]
      -- 1 and 2 sum exactly below 256, which bf16 and u8 hold
      local x = matrix(numbers(h, m * n, name == "sum" and 0 or 1, name == "sum" and 1 or 2, dtype, name, m, n), m, n)
      x[1][1] = 2
      local tx = gpu.from_table(x, dtype)
      local r, c = {}, {}
      for i = 1, m do r[i] = fold(x[i], f) end
      for j = 1, n do c[j] = fold(column_of(x, j), f) end
      local what = ("%s of %s %dx%d"):format(name, dtype, m, n)
      local z = gpu.zeros({ m }, dtype)
      k.rows:with { N = n }(z:tiles { m }, tx):sync()
      check(h, what, z, r)
      if m == 32 then
        wrong.rows:with { N = n }(z:tiles { m }, tx):sync()
        h.mutant((flat_equal(z:to_table(), r)), what)
      end
      z = gpu.zeros({ n }, dtype)
      k.columns:with { M = m }(z:tiles { n }, tx):sync()
      check(h, what, z, c)
    end
  end
end

local MOVES = [[
  #[tile]
  fn turned<const M: i32, const N: i32>(z: &mut Tensor<$T, {[N, M]}>, x: &Tensor<$T, {[M, N]}>) {
      z.store(permute(x.load_tile(shape![M, N], [0, 0]), const_array![1, 0]));
  }
  #[tile]
  fn joined<const M: i32, const N: i32>(z: &mut Tensor<$T, {[M, 2 * N]}>, x: &Tensor<$T, {[M, N]}>, y: &Tensor<$T, {[M, N]}>) {
      z.store(cat(x.load_tile(shape![M, N], [0, 0]), y.load_tile(shape![M, N], [0, 0]), 1));
  }
  #[tile]
  fn running<const M: i32, const N: i32>(z: &mut Tensor<$T, {[M, N]}>, x: &Tensor<$T, {[M, N]}>) {
      z.store(scan_sum(x.load_tile(shape![M, N], [0, 0]), 1, reverse::Forward, $T::ZERO));
  }
  #[tile]
  fn backwards<const M: i32, const N: i32>(z: &mut Tensor<$T, {[M, N]}>, x: &Tensor<$T, {[M, N]}>) {
      z.store(scan(x.load_tile(shape![M, N], [0, 0]), 0, reverse::Reverse, $T::ZERO, |a, b| a + b));
  }
  #[tile]
  fn reshaped<const M: i32, const N: i32>(z: &mut Tensor<$T, {[N, M]}>, x: &Tensor<$T, {[M, N]}>) {
      z.store(x.load_tile(shape![M, N], [0, 0]).reshape(shape![N, M]));
  }
]]

local function moves(h, dtype)
  local k = gpu.kernels(replaced(MOVES, { T = dtype }), "moves")
  local wrong = gpu.kernels(changed(replaced(MOVES, { T = dtype }), "|a, b| a %+ b", "|a, b| a * b"), "moves")
  for _, shape in ipairs(SHAPES) do
    local m, n = shape[1], shape[2]
    local what = function(name) return ("%s of %s %dx%d"):format(name, dtype, m, n) end
    local x = matrix(numbers(h, m * n, 0, 100, dtype, "moves", m, n), m, n)
    local y = matrix(numbers(h, m * n, 101, 120, dtype, "more", m, n), m, n)
    local tx, ty = gpu.from_table(x, dtype), gpu.from_table(y, dtype)
    local z = gpu.zeros({ n, m }, dtype)
    k.turned(z:tiles { n, m }, tx):sync()
    check(h, what "permute", z, map2(n, m, function(i, j) return x[j][i] end))
    k.reshaped(z:tiles { n, m }, tx):sync()
    local function at(i, j) local p = (i - 1) * m + j - 1 return x[p // n + 1][p % n + 1] end
    check(h, what "reshape", z, map2(n, m, at))
    z = gpu.zeros({ m, 2 * n }, dtype)
    k.joined:with { M = m, N = n }(z:tiles { m, 2 * n }, tx, ty):sync()
    check(h, what "cat", z, map2(m, 2 * n, function(i, j) return j <= n and x[i][j] or y[i][j - n] end))
    -- few ones, so that every partial sum is exact
    local ones = matrix(numbers(h, m * n, 0, 1, dtype, "ones", m, n), m, n)
    ones[m][n] = 1
    local tones = gpu.from_table(ones, dtype)
    z = gpu.zeros({ m, n }, dtype)
    k.running(z:tiles { m, n }, tones):sync()
    local function sum(i0, i1, j0, j1)
      local s = 0
      for i = i0, i1 do for j = j0, j1 do s = s + ones[i][j] end end
      return s
    end
    check(h, what "scan_sum", z, map2(m, n, function(i, j) return sum(i, i, 1, j) end))
    k.backwards(z:tiles { m, n }, tones):sync()
    local totals = map2(m, n, function(i, j) return sum(i, m, j, j) end)
    check(h, what "scan", z, totals)
    if m == 32 then
      wrong.backwards(z:tiles { m, n }, tones):sync()
      h.mutant((flat_equal(z:to_table(), totals)), what "scan")
    end
  end
end

local MMA = [[
  #[tile]
  fn product<const M: i32, const N: i32, const K: i32>(z: &mut Tensor<$R, {[M, N]}>, x: &Tensor<$T, {[-1, -1]}>, y: &Tensor<$T, {[-1, -1]}>) {
      let px = x.partition(shape![M, K]);
      let py = y.partition(shape![K, N]);
      let mut acc: Tile<$R, {[M, N]}> = constant($R::ZERO, shape![M, N]);
      for i in 0..num_tiles(&px, 1) { acc = mma(px.load([program_id(0), i]), py.load([i, program_id(1)]), acc); }
      z.store(acc);
  }
]]
local PRODUCTS = { { "f16", "f32" }, { "bf16", "f32" }, { "f32", "f32" }, { "f64", "f64" }, { "i8", "i32" }, { "f16", "f16" } }
-- Also with rows that the instructions of tensor cores have more of.
local TILES = {
  { 16, 8, 16 }, { 16, 16, 16 }, { 32, 32, 32 }, { 64, 64, 32 }, { 8, 8, 8 }, { 32, 64, 16 }, { 1, 16, 32 }, { 2, 8, 64 }, { 4, 16, 32 }, { 8, 32, 32 }, { 24, 16, 32 },
}

local function products(h, pair)
  local text = replaced(MMA, { T = pair[1], R = pair[2] })
  local k, wrong = gpu.kernels(text, "mma"), gpu.kernels(changed(text, "store%(acc%)", "store(acc + acc)"), "mma")
  for _, tile in ipairs(TILES) do
    local m, n, depth = math.max(tile[1] * 2 - 3, 2), tile[2] + 5, tile[3] * 2 - 1
    local x = matrix(numbers(h, m * depth, -2, 2, pair[1], "a", m, n), m, depth)
    local y = matrix(numbers(h, depth * n, -2, 2, pair[1], "b", m, n), depth, n)
    local z = gpu.zeros({ m, n }, pair[2])
    k.product:with { K = tile[3] }(z:tiles { tile[1], tile[2] }, gpu.from_table(x, pair[1]), gpu.from_table(y, pair[1])):sync()
    local function dot(i, j)
      local s = 0
      for l = 1, depth do s = s + x[i][l] * y[l][j] end
      return s
    end
    check(h, ("mma %s to %s, tile %dx%dx%d"):format(pair[1], pair[2], table.unpack(tile)), z, map2(m, n, dot))
    if tile[1] == 8 then
      wrong.product:with { K = tile[3] }(z:tiles { tile[1], tile[2] }, gpu.from_table(x, pair[1]), gpu.from_table(y, pair[1])):sync()
      h.mutant((flat_equal(z:to_table(), map2(m, n, dot))), "mma of " .. pair[1])
    end
  end
end

local POINTERS = [[
  #[tile]
  unsafe fn picked<const B: i32>(z: &mut Tensor<$T, {[B]}>, from: *mut $T, at: &Tensor<i32, {[-1]}>, n: i32) {
      let places = at.load_like(z);
      let lane: Tile<i32, {[B]}> = iota(shape![B]);
      let mask = lt_tile(lane + program_id(0) * B, n.broadcast(shape![B]));
      let p = pointer_to_tile(from).reshape(shape![1]).broadcast(shape![B]).offset_tile(places);
      let (t, _): (Tile<$T, {[B]}>, Token) = load_ptr_tko(p, ordering::Weak, None::<scope::TileBlock>, Some(mask), Some($T::ONE), None, Latency::<0>);
      z.store(t);
  }
  #[tile]
  unsafe fn placed<const B: i32>(to: *mut $T, x: &Tensor<$T, {[-1]}>, at: &Tensor<i32, {[-1]}>, n: i32) {
      let places = at.load_tile(shape![B], [program_id(0)]);
      let lane: Tile<i32, {[B]}> = iota(shape![B]);
      let mask = lt_tile(lane + program_id(0) * B, n.broadcast(shape![B]));
      let p = pointer_to_tile(to).reshape(shape![1]).broadcast(shape![B]).offset_tile(places);
      let _t = store_ptr_tko(p, x.load_tile(shape![B], [program_id(0)]), ordering::Weak, None::<scope::TileBlock>, Some(mask), None, Latency::<0>);
  }
]]

local function pointers(h, dtype)
  local text = replaced(POINTERS, { T = dtype })
  local k, wrong = gpu.kernels(text, "pointers"), gpu.kernels(changed(text, "z%.store%(t%)", "z.store(t + t)"), "pointers")
  for _, n in ipairs(h.SIZES) do
    local x = numbers(h, n, 0, 100, dtype, "x", n)
    local at = {}
    for i = 1, n do at[i] = (i * 7919) % n end -- 7919 is prime to every size here
    local tx, tat, z = gpu.from_table(x, dtype), gpu.from_table(at, "i32"), gpu.zeros({ n }, dtype)
    k.picked(z:tiles { 128 }, tx, tat, n):sync()
    local want, placed = {}, {}
    for i = 1, n do want[i], placed[at[i] + 1] = x[at[i] + 1], x[i] end
    check(h, ("gather %s of %d"):format(dtype, n), z, want)
    if n > 128 then
      wrong.picked(z:tiles { 128 }, tx, tat, n):sync()
      h.mutant((flat_equal(z:to_table(), want)), "gather " .. dtype)
    end
    z = gpu.zeros({ n }, dtype)
    k.placed:with { B = 128, grid = { (n + 127) // 128 } }(z, tx, tat, n):sync()
    check(h, ("scatter %s of %d"):format(dtype, n), z, placed)
  end
end

local ATOMICS = [[
  #[tile]
  unsafe fn update<const B: i32>(bins: *mut $T, x: &Tensor<$T, {[-1]}>, n: i32) {
      let lane: Tile<i32, {[B]}> = iota(shape![B]);
      let at = lane + program_id(0) * B;
      let mask = lt_tile(at, n.broadcast(shape![B]));
      let p = pointer_to_tile(bins).reshape(shape![1]).broadcast(shape![B]).offset_tile(at % 8);
      let (_old, _t) = atomic_rmw_tko(p, x.load_tile(shape![B], [program_id(0)]), atomic::$mode, ordering::Relaxed, scope::Device, Some(mask), None);
  }
]]
local UPDATES = {
  { "i32", "Add", function(a, b) return a + b end }, { "u32", "Umax", math.max }, { "i32", "Min", math.min },
  { "i64", "Add", function(a, b) return a + b end }, { "i32", "Xor", function(a, b) return a ~ b end },
  { "i32", "Or", function(a, b) return a | b end }, { "f32", "AddF", function(a, b) return a + b end },
}

local function atomics(h, row)
  local dtype, mode, f = table.unpack(row)
  local text = replaced(ATOMICS, { T = dtype, mode = mode })
  local k, wrong = gpu.kernels(text, "atomics"), gpu.kernels(changed(text, "at %% 8", "at / 256"), "atomics")
  for _, n in ipairs(h.SIZES) do
    local x = numbers(h, n, 1, 100, dtype, mode, n)
    local bins, want = gpu.full({ 8 }, 3, dtype), {}
    for i = 1, 8 do want[i] = 3 end
    for i = 1, n do want[(i - 1) % 8 + 1] = f(want[(i - 1) % 8 + 1], x[i]) end
    k.update:with { B = 256, grid = { (n + 255) // 256 } }(bins, gpu.from_table(x, dtype), n):sync()
    check(h, ("atomic %s of %s, %d"):format(mode, dtype, n), bins, want)
    if n > 8 then
      bins = gpu.full({ 8 }, 3, dtype)
      wrong.update:with { B = 256, grid = { (n + 255) // 256 } }(bins, gpu.from_table(x, dtype), n):sync()
      h.mutant((flat_equal(bins:to_table(), want)), "atomic " .. mode)
    end
  end
end

-- Pairs of columns D / 2 apart, turned by an angle of each: extents that are quotients of a generic.
local HALVES = [[
  fn halves<const M: i32, const D: i32>(t: Tile<$T, {[M, D]}>) -> (Tile<$T, {[M, D / 2]}>, Tile<$T, {[M, D / 2]}>) {
      let zero = scalar_to_tile(0i32);
      (extract(t, [zero, zero]), extract(t, [zero, scalar_to_tile(1i32)]))
  }
  #[tile]
  fn rotated<const M: i32, const D: i32>(z: &mut Tensor<$T, {[M, D]}>, x: &Tensor<$T, {[-1, -1]}>, c: &Tensor<$T, {[-1, -1]}>, s: &Tensor<$T, {[-1, -1]}>) {
      let (a, b) = halves::<M, D>(x.load_like(z));
      let tc: Tile<$T, {[M, D / 2]}> = c.load_tile(shape![M, D / 2], [program_id(0), 0]);
      let ts = s.load_tile(shape![M, (2 * D) / 4], [program_id(0), 0]);
      z.store(cat(a * tc - b * ts, a * ts + b * tc, 1));
  }
]]

local function halves(h, dtype)
  local text = replaced(HALVES, { T = dtype })
  local k, wrong = gpu.kernels(text, "halves"), gpu.kernels(changed(text, "a %* ts %+ b", "a * ts - b"), "halves")
  for _, shape in ipairs { { 1, 2 }, { 4, 8 }, { 8, 64 }, { 32, 16 } } do
    local m, d = table.unpack(shape)
    local function random(columns, ...) return matrix(numbers(h, m * columns, 1, 5, dtype, "halves", ...), m, columns) end
    local x, c, s = random(d, "x"), random(d // 2, "c"), random(d // 2, "s")
    local want = map2(m, d, function(i, j)
      local at = (j - 1) % (d // 2) + 1
      local a, b = x[i][at], x[i][at + d // 2]
      return j <= d // 2 and a * c[i][at] - b * s[i][at] or a * s[i][at] + b * c[i][at]
    end)
    local function run(module)
      local z = gpu.zeros({ m, d }, dtype)
      module.rotated(z:tiles { m, d }, gpu.from_table(x, dtype), gpu.from_table(c, dtype), gpu.from_table(s, dtype)):sync()
      return z
    end
    check(h, ("halves of %s, %dx%d"):format(dtype, m, d), run(k), want)
    h.mutant((flat_equal(run(wrong):to_table(), want)), "halves of " .. dtype)
  end
end

-- A tile that goes from thread to thread through more than 48 KiB.
local LARGE = [[
  #[tile]
  fn large<const N: i32>(z: &mut Tensor<f32, {[N, N]}>, x: &Tensor<f32, {[N, N]}>) {
      let sums = scan_sum(x.load_tile(shape![N, N], [0, 0]), 1, reverse::Forward, 0.0f32);
      z.store(sums - sums.transpose() * 2.0f32);
  }
]]

local function large(h)
  local n = 128
  local x = matrix(numbers(h, n * n, 0, 9, "large"), n, n)
  local sums = map2(n, n, function(i, j) return fold(table.move(x[i], 1, j, 1, {}), function(a, b) return a + b end) end)
  local function run(text)
    local z = gpu.zeros { n, n }
    gpu.kernels(text, "large").large(z:tiles { n, n }, gpu.from_table(x)):sync()
    return z
  end
  local want = map2(n, n, function(i, j) return sums[i][j] - 2 * sums[j][i] end)
  check(h, "large", run(LARGE), want)
  h.mutant((flat_equal(run(changed(LARGE, "sums%.transpose%(%)", "sums")):to_table(), want)), "large")
end

return function(h)
  h.group("tile.large", function() large(h) end)
  for _, dtype in ipairs { "f32", "bf16", "i32" } do h.group("tile.halves." .. dtype, function() halves(h, dtype) end) end
  for _, dtype in ipairs(DTYPES) do
    h.group("tile.reduce." .. dtype, function() reductions(h, dtype) end)
    h.group("tile.moves." .. dtype, function() moves(h, dtype) end)
  end
  for _, pair in ipairs(PRODUCTS) do h.group("tile.mma." .. pair[1] .. "." .. pair[2], function() products(h, pair) end) end
  for _, dtype in ipairs { "f32", "f16", "i32", "u8", "f64" } do h.group("tile.pointers." .. dtype, function() pointers(h, dtype) end) end
  for _, row in ipairs(UPDATES) do h.group("tile.atomic." .. row[2] .. "." .. row[1], function() atomics(h, row) end) end
end
