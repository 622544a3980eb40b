-- The tile track's structured operations on every element type, bit by bit, over tensors that no
-- tile divides. cases_tile.lua has their shapes, cases_tile_fns.lua their modes.
local gpu = require "gpulua"
local formats = require "formats"
local arith = require "arith"
local matrix = require "matrix"

local ROWS, COLUMNS = 13, 21 -- of the operand

-- ---- One tile in, one tile out ---------------------------------------------------------------------

-- Each row is a kernel that makes a tile of `to` from one of `from` at the same place of the grid.
--   ops        what it is to have in its IR
--   expression over t, the tile, and s, a number
--   value(tile, f, s)  the same on codes: tile[i][j] -> result[i][j]
--   mutant     the expression changed
--   ones       the operand is sparse ones, so that sums are exact in every type
--   classes    of element types, when not all
local function map(rows, columns, f)
  local t = {}
  for i = 1, rows do
    t[i] = {}
    for j = 1, columns do t[i][j] = f(i, j) end
  end
  return t
end

local function fold(f, op, acc, codes)
  for _, code in ipairs(codes) do acc = arith.result(op, nil, f, f, acc, code) end
  return acc
end

local function column(tile, j)
  local t = {}
  for i = 1, #tile do t[i] = tile[i][j] end
  return t
end

-- What leaves every element as it is when it is the lesser one.
local function least(f)
  if f.class == "bool" or f.class == "uint" then return 0 end
  if f.class == "int" then return 1 << (f.bits - 1) end
  return formats.encode(f, f.finite and -448.0 or -math.huge)
end

-- Inclusive sums (or disjunctions of bools) of a row's elements.
local function prefixes(f, codes)
  local t, acc = {}, nil
  for j, code in ipairs(codes) do
    acc = acc and arith.result(f.class == "bool" and "or" or "add", nil, f, f, acc, code) or code
    t[j] = acc
  end
  return t
end

local FOLDED = "float int uint bool" -- classes that have an order

local TILES = {
  { name = "moved", ops = { "load_tile", "store_tile" }, from = { 4, 8 }, to = { 4, 8 },
    expression = "t", mutant = "t.reshape(shape![8, 4]).transpose()", value = function(t) return t end },
  { name = "const", ops = { "const" }, from = { 4, 8 }, to = { 4, 8 },
    expression = "constant($T::ONE, shape![4, 8])", mutant = "constant($T::ZERO, shape![4, 8])",
    value = function(_, f) return map(4, 8, function() return formats.encode(f, f.class == "float" and 1.0 or 1) end) end },
  { name = "splat", ops = { "splat" }, from = { 4, 8 }, to = { 4, 8 },
    expression = "s.broadcast(shape![4, 8])", mutant = "t", value = function(_, _, s) return map(4, 8, function() return s end) end },
  { name = "extract", ops = { "extract" }, from = { 1, 1 }, to = { 4, 8 },
    expression = "tile_to_scalar(t.reshape(shape![])).broadcast(shape![4, 8])", mutant = "s.broadcast(shape![4, 8])",
    value = function(t) return map(4, 8, function() return t[1][1] end) end },
  { name = "broadcast", ops = { "broadcast" }, from = { 4, 1 }, to = { 4, 8 },
    expression = "t.broadcast(shape![4, 8])", mutant = "constant($T::ONE, shape![4, 8])",
    value = function(t) return map(4, 8, function(i) return t[i][1] end) end },
  { name = "reshape", ops = { "reshape" }, from = { 4, 8 }, to = { 8, 4 },
    expression = "t.reshape(shape![8, 4])", mutant = "t.transpose()",
    value = function(t) return map(8, 4, function(i, j) local p = (i - 1) * 4 + j - 1 return t[p // 8 + 1][p % 8 + 1] end) end },
  { name = "permute", ops = { "permute" }, from = { 4, 8 }, to = { 8, 4 },
    expression = "permute(t, const_array![1, 0])", mutant = "t.reshape(shape![8, 4])",
    value = function(t) return map(8, 4, function(i, j) return t[j][i] end) end },
  { name = "cat", ops = { "cat" }, from = { 4, 8 }, to = { 8, 8 },
    expression = "cat(t, s.broadcast(shape![4, 8]), 0)", mutant = "cat(s.broadcast(shape![4, 8]), t, 0)",
    value = function(t, _, s) return map(8, 8, function(i, j) return i <= 4 and t[i][j] or s end) end },
  { name = "extract_tile", ops = { "extract_tile" }, from = { 4, 8 }, to = { 2, 4 },
    expression = "extract(t, [scalar_to_tile(1i32), scalar_to_tile(0i32)])",
    mutant = "extract(t, [scalar_to_tile(0i32), scalar_to_tile(0i32)])",
    value = function(t) return map(2, 4, function(i, j) return t[i + 2][j] end) end },
  { name = "reduce", ops = { "reduce" }, from = { 4, 8 }, to = { 4, 1 }, classes = FOLDED, refused = "reduce_max",
    expression = "reduce_max(t, 1).reshape(shape![4, 1])", mutant = "reduce_min(t, 1).reshape(shape![4, 1])",
    value = function(t, f) return map(4, 1, function(i) return fold(f, "max", least(f), t[i]) end) end },
  { name = "reduce.0", ops = { "reduce" }, from = { 8, 4 }, to = { 1, 4 }, classes = FOLDED,
    expression = "reduce_max(t, 0).reshape(shape![1, 4])", mutant = "reduce_min(t, 0).reshape(shape![1, 4])",
    value = function(t, f) return map(1, 4, function(_, j) return fold(f, "max", least(f), column(t, j)) end) end },
  { name = "reduce.sum", ops = { "reduce" }, from = { 4, 8 }, to = { 4, 1 }, ones = true, classes = "float int uint",
    expression = "reduce_sum(t, 1).reshape(shape![4, 1])", mutant = "reduce_prod(t, 1).reshape(shape![4, 1])",
    value = function(t, f) return map(4, 1, function(i) return prefixes(f, t[i])[8] end) end },
  { name = "scan", ops = { "scan" }, from = { 4, 8 }, to = { 4, 8 }, ones = true, classes = "float int uint", refused = "scan_sum",
    expression = "scan_sum(t, 1, reverse::Forward, $T::ZERO)", mutant = "scan_sum(t, 0, reverse::Forward, $T::ZERO)",
    value = function(t, f) return map(4, 8, function(i, j) return prefixes(f, t[i])[j] end) end },
  { name = "scan.closure", ops = { "scan" }, from = { 4, 8 }, to = { 4, 8 }, ones = true, classes = "bool int uint",
    expression = "scan(t, 1, reverse::Reverse, $T::ZERO, |a, b| a | b)", mutant = "scan(t, 1, reverse::Forward, $T::ZERO, |a, b| a | b)",
    value = function(t, f)
      return map(4, 8, function(i, j)
        local acc = 0
        for k = j, 8 do acc = arith.result("or", nil, f, f, acc, t[i][k]) end
        return acc
      end)
    end },
}

local TILE = [[
  #[tile]
  fn $name(z: &mut Tensor<$T, {[$to]}>, x: &Tensor<$T, {[-1, -1]}>, s: $T) {
      let t = x.load_tile(shape![$from], [program_id(0), program_id(1)]);
      let r: Tile<$T, {[$to]}> = $expression;
      z.store(r);
  }
]]

local function filled(text, words) return (text:gsub("%$(%w+)", words)) end

-- The operand's codes, row by row, and its tensor.
local function operand(h, dtype, ones)
  local f = formats.of[dtype]
  local codes = formats.data(f, ROWS * COLUMNS, h.seed_of("types", dtype))
  if ones then
    local one = formats.encode(f, f.class == "float" and 1.0 or 1)
    for i in ipairs(codes) do codes[i] = i * 7 % 5 < 2 and one or 0 end
  end
  local rows = map(ROWS, COLUMNS, function(i, j) return codes[(i - 1) * COLUMNS + j] end)
  return rows, h.tensor(dtype, formats.pack(f, codes), { ROWS, COLUMNS })
end

-- The codes of a result over a whole grid of tiles, with its last rows and columns cut off.
local function expected(row, rows, f, s, shape)
  local from, to = row.from, row.to
  return map(shape[1], shape[2], function(i, j)
    local bi, bj = (i - 1) // to[1], (j - 1) // to[2]
    local t = map(from[1], from[2], function(a, b) return (rows[bi * from[1] + a] or {})[bj * from[2] + b] or 0 end)
    return row.value(t, f, s)[(i - 1) % to[1] + 1][(j - 1) % to[2] + 1]
  end)
end

local function flat(rows)
  local t = {}
  for _, row in ipairs(rows) do for _, v in ipairs(row) do t[#t + 1] = v end end
  return t
end

local function check_tile(h, row, dtype)
  local f = formats.of[dtype]
  local class = f.code and "code" or f.class
  local is_taken = (row.classes or class):find(class, 1, true)
  if not (is_taken or row.refused) then return end
  local words = { T = dtype, name = "f", from = table.concat(row.from, ", "), to = table.concat(row.to, ", ") }
  local function made(expression)
    words.expression = filled(expression, words)
    return gpu.kernels(filled(TILE, words), row.name).f
  end
  local rows, x = operand(h, dtype, row.ones)
  local s = f.class == "bool" or dtype ~= "bool" and 1
  local code = formats.encode(f, f.class == "float" and 1.0 or 1)
  local blocks = { 4, 3 } -- of tiles of the result; the last ones are ragged where they can be
  local shape = {}
  for axis = 1, 2 do shape[axis] = blocks[axis] * row.to[axis] - (row.to[axis] > 1 and 1 or 0) end
  local want = flat(expected(row, rows, f, code, shape))
  local function run(kernel)
    local z = gpu.zeros(shape, dtype)
    kernel(z:tiles(row.to), x, s):sync()
    return z:to_bytes()
  end
  local kernel = made(row.expression)
  if not is_taken then
    local what = dtype == "bool" and "bools" or dtype
    return matrix.refused(h, row.ops[1], dtype, function() run(kernel) end, "G0251",
      ("`%s` of %s is not supported in kernels"):format(row.refused, what))
  end
  local is_right, wrong = h.compare(dtype, run(kernel), want, 0)
  if h.check(is_right, "%s on %s: %s", row.name, dtype, wrong) then matrix.compiled(h, kernel, dtype, table.unpack(row.ops)) end
  if dtype == "f32" or dtype == "u8" or dtype == "bool" then
    h.mutant(h.compare(dtype, run(made(row.mutant)), want, 0), row.name)
  end
end

-- ---- Numbers of elements ---------------------------------------------------------------------------

local IOTA = "#[tile] fn f<const B: i32>(z: &mut Tensor<$T, {[B]}>) { z.store(iota(shape![B])); }"

local function check_iota(h, dtype)
  local f, text = formats.of[dtype], filled(IOTA, { T = dtype })
  if f.class == "float" or f.class == "bool" then
    return matrix.refused(h, "iota", dtype, text, "E0277", ("the trait bound `%s: IntElement` is not satisfied"):format(dtype))
  end
  local k, z, want = gpu.kernels(text, "iota").f, gpu.zeros({ 100 }, dtype), {}
  k(z:tiles { 64 }):sync()
  for i = 0, 99 do want[i + 1] = formats.encode(f, i % 64) end
  local is_right, wrong = h.compare(dtype, z:to_bytes(), want, 0)
  if h.check(is_right, "iota of %s: %s", dtype, wrong) then matrix.compiled(h, k, dtype, "iota") end
end

local DIVIDE = [[
  #[tile] fn f<const B: i32>(z: &mut Tensor<$T, {[B]}>, x: &Tensor<$T, {[-1]}>) { z.store(divi(constant($T::ONE, shape![B]), x.load_like(z), rounding::Zero)); }
]]

-- Division by zero is told where it can happen.
local function check_divisor(h, dtype)
  local f, text = formats.of[dtype], filled(DIVIDE, { T = dtype })
  if f.class == "float" or f.class == "bool" then
    return matrix.refused(h, "check_div", dtype, text, "E0277", ("the trait bound `%s: IntElement` is not satisfied"):format(dtype))
  end
  local k, z = gpu.kernels(text, "divide").f, gpu.zeros({ 8 }, dtype)
  k(z:tiles { 8 }, gpu.ones({ 8 }, dtype)):sync()
  h.check(z[8] == 1, "1 / 1 of %s is %s", dtype, z[8])
  local x = gpu.ones({ 8 }, dtype)
  x[5] = 0
  local ok, err = pcall(function() k(z:tiles { 8 }, x):sync() end)
  if h.check(not ok and err.code == "G0403", "division of %s by zero: %s", dtype, ok or tostring(err)) then
    matrix.compiled(h, k, dtype, "check_div")
  end
end

-- ---- Conversion of bits ----------------------------------------------------------------------------

local BITCAST = "#[tile] fn f<const B: i32>(z: &mut Tensor<$R, {[B]}>, x: &Tensor<$T, {[-1]}>) { z.store(bitcast(x.load_like(z))); }"

local function check_bitcast(h, from)
  local f = formats.of[from]
  local codes = formats.data(f, 100, h.seed_of("bits", from))
  local x = h.tensor(from, formats.pack(f, codes))
  for _, to in ipairs(formats.list) do
    local k, z = gpu.kernels(filled(BITCAST, { T = from, R = to }), "bitcast").f, gpu.zeros({ 100 }, to)
    local r = formats.of[to]
    if f.bits ~= r.bits or f.class == "bool" or r.class == "bool" then
      matrix.refused(h, "bitcast", from, function() k(z:tiles { 64 }, x) end, "G0251",
        ("`bitcast` from `%s` to `%s` is not supported in kernels"):format(from, to))
    elseif from ~= to then
      k(z:tiles { 64 }, x):sync()
      local want = {}
      for i, code in ipairs(codes) do -- what tf32 cannot hold is rounded
        want[i] = to == "tf32" and formats.encode(r, (string.unpack("<f", string.pack("<I4", code)))) or
          formats.quiet(r, code & ((1 << r.bits) - 1))
      end
      local got = z:to_bytes()
      local is_right, wrong = h.compare(to, got, want, 0)
      if h.check(is_right, "bits of %s as %s: %s", from, to, wrong) then matrix.compiled(h, k, from, "bitcast") end
    end
  end
end

-- ---- Products of matrices --------------------------------------------------------------------------

local MMA = [[
  #[tile]
  fn f(z: &mut Tensor<$R, {[16, 8]}>, x: &Tensor<$A, {[-1, -1]}>, y: &Tensor<$B, {[-1, -1]}>) {
      let mut acc: Tile<$R, {[16, 8]}> = constant($R::ONE, shape![16, 8]);
      for i in 0..num_tiles(&x.partition(shape![16, 16]), 1) {
          acc = $call(x.load_tile(shape![16, 16], [program_id(0), i]), y.load_tile(shape![16, 8], [i, program_id(1)]), acc$modes);
      }
      z.store(acc);
  }
]]

-- a, b, the sum's type, the function that takes them
local PRODUCTS = {
  { "f16", "f16", "f16" }, { "f16", "f16", "f32" }, { "bf16", "bf16", "f32" }, { "tf32", "tf32", "f32" },
  { "f32", "f32", "f32" }, { "f64", "f64", "f64" }, { "f8e4m3fn", "f8e4m3fn", "f16" }, { "f8e4m3fn", "f8e4m3fn", "f32" },
  { "f8e5m2", "f8e5m2", "f16" }, { "f8e5m2", "f8e5m2", "f32" }, { "i8", "i8", "i32" }, { "u8", "u8", "i32" },
}

local function product_text(a, b, r, call, modes)
  return filled(MMA, { A = a, B = b, R = r, call = call or "mma", modes = modes or "" })
end

local function check_product(h, a, b, r, call, modes, signs)
  local k = gpu.kernels(product_text(a, b, r, call, modes), "mma").f
  local m, n, depth = 29, 13, 23
  local random = formats.random(h.seed_of("mma", a, b, r, call or "", modes or ""))
  local function drawn(rows, columns, dtype)
    local is_unsigned = formats.of[dtype].class == "uint"
    return map(rows, columns, function() return (random() >> 33) % 3 + (is_unsigned and 0 or -1) end)
  end
  local x, y = drawn(m, depth, a), drawn(depth, n, b)
  local z = gpu.zeros({ m, n }, r)
  k(z:tiles { 16, 8 }, gpu.from_table(x, a), gpu.from_table(y, b)):sync()
  local function as(v, sign) return sign == "Unsigned" and v & 0xff or v end
  local got, wrong = z:to_table(), nil
  for i = 1, m do
    for j = 1, n do
      local sum = 1
      for l = 1, depth do sum = sum + as(x[i][l], signs and signs[1]) * as(y[l][j], signs and signs[2]) end
      if got[i][j] ~= sum then wrong = wrong or ("[%d, %d] is %s, expected %s"):format(i, j, got[i][j], sum) end
    end
  end
  local is_right = h.check(not wrong, "product of %s and %s added to %s: %s", a, b, r, wrong)
  if is_right and not signs then matrix.compiled(h, k, a, "mma") end -- signs may make it a product of the other type
end

local function check_products(h)
  for _, row in ipairs(PRODUCTS) do check_product(h, table.unpack(row)) end
  for _, row in ipairs { { "f16", "f32" }, { "f64", "f64" } } do check_product(h, row[1], row[1], row[2], "mmaf") end
  for _, a in ipairs { "i8", "u8" } do
    for _, l in ipairs { "Signed", "Unsigned" } do
      for _, r in ipairs { "Signed", "Unsigned" } do
        check_product(h, a, a, "i32", "mmai", (", signedness::%s, signedness::%s"):format(l, r), { l, r })
      end
    end
  end
  -- Every other type is told that there is no such product.
  local taken = {}
  for _, row in ipairs(PRODUCTS) do taken[row[1]] = true end
  for _, dtype in ipairs(formats.list) do
    if not taken[dtype] then
      local k = gpu.kernels(product_text(dtype, dtype, dtype), "mma").f
      local x, z = gpu.zeros({ 16, 16 }, dtype), gpu.zeros({ 16, 8 }, dtype)
      matrix.refused(h, "mma", dtype, function() k(z:tiles { 16, 8 }, x, x) end, "G0251",
        ("a product of `%s` and `%s` added to `%s` is not supported in kernels"):format(dtype, dtype, dtype))
    end
  end
end

-- ---- Tensors that a kernel makes ---------------------------------------------------------------------

local RAW = [[
  #[tile]
  unsafe fn f(z: &mut Tensor<$T, {[8]}>, p: *mut $T, n: i32) {
      let shape = Shape::<{[-1]}> { dims: &[n] };
      let odd = make_tensor_view(pointer_to_tile(p).offset(1), shape, const_array![2], new_token_unordered());
      z.store(odd.partition(shape![8]).load([program_id(0)]));
  }
]]

-- Every other element, of a tensor that the kernel makes.
local function check_raw(h, dtype)
  local f, n = formats.of[dtype], 43
  local codes, want = formats.data(f, 2 * n, h.seed_of("raw", dtype)), {}
  for i = 1, n do want[i] = codes[2 * i] end
  local k, z = gpu.kernels(filled(RAW, { T = dtype }), "raw").f, gpu.zeros({ n }, dtype)
  k(z:tiles { 8 }, h.tensor(dtype, formats.pack(f, codes)), n):sync()
  local is_right, wrong = h.compare(dtype, z:to_bytes(), want, 0)
  if h.check(is_right, "a tensor of an address, %s: %s", dtype, wrong) then matrix.compiled(h, k, dtype, "make_tensor") end
end

local NESTED = [[
  #[tile]
  fn f(z: &mut Tensor<$T, {[3]}>, x: &Tensor<$T, {[-1]}>) {
      let mut p = z.partition_mut(shape![2]);
      for j in 0..2 { p.store(x.load_tile(shape![2], [j]), [j]); }
  }
]]

-- Tiles of two in a block's own three: what a store has beyond them is dropped.
local function check_window(h, dtype)
  local f, n = formats.of[dtype], 11
  local codes, want = formats.data(f, 4, h.seed_of("window", dtype)), {}
  for i = 1, n do want[i] = codes[(i - 1) % 3 + 1] end
  local k, z = gpu.kernels(filled(NESTED, { T = dtype }), "nested").f, gpu.zeros({ n }, dtype)
  k(z:tiles { 3 }, h.tensor(dtype, formats.pack(f, codes))):sync()
  local is_right, wrong = h.compare(dtype, z:to_bytes(), want, 0)
  if h.check(is_right, "tiles of a tile, %s: %s", dtype, wrong) then matrix.compiled(h, k, dtype, "window") end
end

-- ---- SIMT memory of a thread's own -------------------------------------------------------------------

local SLOT = [=[
  #[kernel]
  fn f(x: &[$T], y: &[$T], at: &[u32], mut z: DisjointSlice<$T>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = z.get_mut(idx) {
          let mut own = [x[i], y[i], x[i]];
          own[(at[i] % 3) as usize] = y[i];
          *out = own[((at[i] + 1) % 3) as usize];
      }
  }
]=]

local function check_slot(h, dtype)
  local f, n = formats.of[dtype], 300
  local k = gpu.kernels(filled(SLOT, { T = dtype }), "slot").f
  local seed = h.seed_of("slot", dtype)
  local x, y, at, want = formats.data(f, n, seed), formats.data(f, n, seed + 1), {}, {}
  for i = 1, n do
    at[i] = i * 5 % 7
    local own = { [0] = x[i], y[i], x[i] }
    own[at[i] % 3] = y[i]
    want[i] = own[(at[i] + 1) % 3]
  end
  local z = gpu.zeros({ n }, dtype)
  k(h.tensor(dtype, formats.pack(f, x)), h.tensor(dtype, formats.pack(f, y)), gpu.from_table(at, "u32"), z):sync()
  local is_right, wrong = h.compare(dtype, z:to_bytes(), want, 0)
  if h.check(is_right, "an array of %s: %s", dtype, wrong) then matrix.compiled(h, k, dtype, "slot") end
end

-- ---- Operations that no element type concerns --------------------------------------------------------

local FLOW = [=[
  #[kernel]
  fn simt(x: &[i32], n: i32, mut z: DisjointSlice<i32>) {
      let i = thread::index_1d().get();
      let place = thread::blockIdx_x() * thread::blockDim_x() + thread::threadIdx_x();
      if i >= x.len() { return; }
      assert!(n < 100, "n is small");
      let mut sum = if place as usize == i { x[i] } else { -1 };
      for j in 0..n {
          if j == 2 { continue; }
          if j == 5 { break; }
          sum += j;
      }
      let found = 'search: {
          if sum > 40 { break 'search 1; }
          2
      };
      let mut left = n;
      while left > 0 { left -= 3; }
      sum += found * 1000 + left + thread::gridDim_x() as i32;
      if let Some(out) = z.get_mut(thread::index_1d()) { *out = sum; }
  }
  #[tile]
  unsafe fn tile<const B: i32>(z: &mut Tensor<i32, {[B]}>, x: &Tensor<i32, {[-1]}>, p: *mut i32) {
      let address: Tile<i64, {[]}> = ptr_to_int(pointer_to_tile(p));
      let q: PointerTile<*mut i32, {[]}> = int_to_ptr(address + constant(4i64, shape![]));
      let (second, _) = load_ptr_tko(q, ordering::Weak, None::<scope::TileBlock>, None, None, None, Latency::<0>);
      let known = x.shape()[0] * 100 + num_programs(0) * 10 + program_id(0);
      z.store(known.broadcast(shape![B]) + tile_to_scalar(second).broadcast(shape![B]));
  }
  #[tile]
  fn shared<const MAP: [i32; 1]>(mut z: MappedPartitionMut<i32, {[4]}, MAP>) {
      for i in z.iter_indices() {
          let at: Tile<i32, {[4]}> = iota(shape![4]);
          z.store(at + i.coords()[0] * 10, i);
      }
  }
]=]

local function check_flow(h)
  local k, n = gpu.kernels(FLOW, "flow"), 40
  for _, turns in ipairs { 0, 2, 4, 9 } do
    local z = gpu.zeros({ n }, "i32")
    k.simt(gpu.arange(n, "i32"), turns, z):sync()
    for i = 0, n - 1 do
      local sum, left = i, turns
      for j = 0, math.min(turns, 5) - 1 do sum = sum + (j == 2 and 0 or j) end
      while left > 0 do left = left - 3 end
      local want = sum + (sum > 40 and 1 or 2) * 1000 + left + 1
      if not h.check(z[i + 1] == want, "%d turns at %d give %d, expected %d", turns, i, z[i + 1], want) then return end
    end
  end
  matrix.compiled(h, k.simt, "any", "if", "for", "loop", "block", "yield", "break", "continue", "return", "assert", "check_index",
    "thread_id", "block_id", "block_dim", "grid_dim")
  local z = gpu.zeros({ 20 }, "i32")
  k.tile(z:tiles { 8 }, gpu.arange(7, "i32"), gpu.from_table({ 1000, 2000 }, "i32")):sync()
  for i = 0, 19 do h.check(z[i + 1] == 2730 + i // 8, "element %d is %d", i, z[i + 1]) end
  z = gpu.zeros({ 18 }, "i32")
  k.shared(z:tiles({ 4 }):map({ 1 }, 2)):sync()
  for i = 0, 17 do h.check(z[i + 1] == i // 4 * 10 + i % 4, "element %d of shared tiles is %d", i, z[i + 1]) end
  matrix.compiled(h, k.shared, "any", "below")
  matrix.compiled(h, k.tile, "any", "program_id", "num_programs", "dim", "ptr_to_int", "int_to_ptr")
end

local PRINT = [=[
local gpu = require "gpulua"
gpu.device(%q)
gpu.kernels(%q).f(gpu.arange(1, 6, "i32"):tiles { 4 }, -3):sync()
]=]
local PRINTING = [=[
  #[tile]
  fn f<const B: i32>(z: &mut Tensor<i32, {[B]}>, n: i32) {
      if program_id(0) == 1 { cuda_tile_print!("n is {}, the tile {}\n", n, z.load()); }
  }
]=]

-- What a kernel prints is seen where the program's output goes.
local function check_print(h)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(PRINT:format(h.device.name, PRINTING))
  file:close()
  local program = arg[-1] -- this one
  local pipe = assert(io.popen(("%q %q 2>&1"):format(program, path)))
  local printed = pipe:read "a"
  pipe:close()
  os.remove(path)
  local is_right = printed:find("n is -3, the tile [5, 0, 0, 0]", 1, true)
  if h.check(is_right, "a kernel prints %q", printed) then
    matrix.covers(h, gpu.kernels(PRINTING, "print").f:with { B = 4, grid = 2 }, "any", "print")
  end
end

return function(h)
  h.group("types.flow", check_flow)
  h.group("types.print", check_print)
  for _, row in ipairs(TILES) do
    h.group("types." .. row.name, function()
      for _, dtype in ipairs(formats.list) do check_tile(h, row, dtype) end
    end)
  end
  local function each(name, f)
    h.group("types." .. name, function() for _, dtype in ipairs(formats.list) do f(h, dtype) end end)
  end
  each("iota", check_iota)
  each("check_div", check_divisor)
  each("bitcast", check_bitcast)
  h.group("types.mma", check_products)
  each("raw", check_raw)
  each("window", check_window)
  each("slot", check_slot)
end
