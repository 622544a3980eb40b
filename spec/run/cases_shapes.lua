-- Tiles and views: ragged tiles of rank 1 to 3, strides, offsets, permuted and empty tensors,
-- tile constructors. Operands are computed from their indices, and so is every expectation.
local gpu = require "gpulua"

local KERNELS = [[
  #[tile]
  fn add1<const A: i32>(z: &mut Tensor<f32, {[A]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
      z.store(x.load_like(z) + y.load_like(z));
  }
  #[tile]
  fn add2<const A: i32, const B: i32>(z: &mut Tensor<f32, {[A, B]}>, x: &Tensor<f32, {[-1, -1]}>, y: &Tensor<f32, {[-1, -1]}>) {
      z.store(x.load_like(z) + y.load_like(z));
  }
  #[tile]
  fn add3<const A: i32, const B: i32, const C: i32>(z: &mut Tensor<f32, {[A, B, C]}>, x: &Tensor<f32, {[-1, -1, -1]}>, y: &Tensor<f32, {[-1, -1, -1]}>) {
      z.store(x.load_like(z) + y.load_like(z));
  }
  #[kernel]
  fn simt(x: &[f32], y: &[f32], mut z: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = z.get_mut(idx) { *out = x[i] + y[i]; }
  }
  #[tile]
  fn outer<const A: i32, const B: i32>(z: &mut Tensor<f32, {[A, B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
      let i = program_id(0);
      let j = program_id(1);
      let tx = x.load_tile(shape![A], [i]).reshape(shape![A, 1]).broadcast(shape![A, B]);
      let ty = y.load_tile(shape![B], [j]).reshape(shape![1, B]).broadcast(shape![A, B]);
      z.store(tx * ty + 0.5);
  }
  #[tile]
  fn numbers<const A: i32>(z: &mut Tensor<i32, {[A]}>) {
      let at: Tile<i32, {[A]}> = iota(shape![A]);
      z.store(at + program_id(0) * A);
  }
  #[tile]
  fn constants<const A: i32>(z: &mut Tensor<f32, {[A]}>, s: f32) {
      let c = constant(2.5, shape![A]);
      z.store(c + s.broadcast(shape![A]));
  }
  #[tile]
  fn blocks<const A: i32, const B: i32>(z: &mut Tensor<i32, {[A, B]}>) {
      let (i, j, _k) = get_tile_block_id();
      let (n, m, _l) = get_num_tile_blocks();
      z.store(constant(i * 1000 + j * 100 + n * 10 + m, shape![A, B]));
  }
  #[tile]
  fn reverse<const A: i32>(z: &mut Tensor<f32, {[A]}>, x: &Tensor<f32, {[-1]}>) {
      let p = x.partition(shape![A]);
      z.store(p.load([num_tiles(&p, 0) - 1 - program_id(0)]));
  }
]]

local function nested(shape, f, axis, at)
  axis, at = axis or 1, at or {}
  if axis > #shape then return f(table.unpack(at)) end
  local t = {}
  for i = 1, shape[axis] do
    at[axis] = i
    t[i] = nested(shape, f, axis + 1, at)
  end
  return t
end

-- The first index where nested tables differ.
local function difference(got, want, at)
  at = at or ""
  if type(want) ~= "table" then
    if got ~= want then return ("[%s] is %s, expected %s"):format(at, got, want) end
    return nil
  end
  if type(got) ~= "table" or #got ~= #want then return ("[%s] has another extent"):format(at) end
  for i = 1, #want do
    local d = difference(got[i], want[i], at == "" and tostring(i) or at .. "," .. i)
    if d then return d end
  end
end

local function fx(i, j, k) return (i * 31 + (j or 0) * 7 + (k or 0)) % 257 + 0.25 end
local function fy(i, j, k) return (i * 13 + (j or 0) * 5 + (k or 0) * 3) % 127 - 60.5 end

local function swap(f) return function(i, j, k) return f(j, i, k) end end

-- Each gives a tensor whose element (i, ..) is f(i, ..), and lies differently in memory.
local LAYOUTS = {
  plain = function(shape, f) return gpu.from_table(nested(shape, f)) end,
  -- Two more on each side, so that the base is misaligned and rows are apart.
  sliced = function(shape, f)
    local padded, ranges = {}, {}
    for i, n in ipairs(shape) do padded[i], ranges[i] = n + 4, { 3, n + 2 } end
    local base = gpu.from_table(nested(padded, function(...)
      local at = { ... }
      for i = 1, #at do at[i] = at[i] - 2 end
      return f(table.unpack(at))
    end))
    return base:slice(table.unpack(ranges))
  end,
  permuted = function(shape, f)
    if #shape < 2 then return gpu.from_table(nested(shape, f)) end
    local order = { 2, 1, 3 }
    local turned = { shape[2], shape[1], shape[3] }
    return gpu.from_table(nested(turned, swap(f))):permute { table.unpack(order, 1, #shape) }
  end,
}

local function sum(...) return fx(...) + fy(...) end

local CASES = {
  { { 1 }, { 8 } }, { { 8 }, { 8 } }, { { 13 }, { 8 } }, { { 1000 }, { 128 } }, { { 37 }, { 64 } },
  { { 1, 1 }, { 4, 4 } }, { { 8, 16 }, { 4, 8 } }, { { 7, 9 }, { 4, 8 } }, { { 33, 5 }, { 16, 16 } }, { { 3, 130 }, { 2, 64 } },
  { { 3, 5, 7 }, { 2, 4, 4 } }, { { 4, 4, 4 }, { 4, 4, 4 } }, { { 1, 9, 2 }, { 1, 8, 8 } }, { { 6, 2, 17 }, { 4, 1, 16 } },
}

local function check_layouts(h, k)
  for _, case in ipairs(CASES) do
    local shape, tile = case[1], case[2]
    local want = nested(shape, sum)
    for lx, make_x in pairs(LAYOUTS) do
      for lz, make_z in pairs(LAYOUTS) do
        local x, y, z = make_x(shape, fx), LAYOUTS.plain(shape, fy), make_z(shape, function() return -1 end)
        k["add" .. #shape](z:tiles(tile), x, y):sync()
        local wrong = difference(z:to_table(), want)
        h.check(not wrong, "{%s} in tiles of {%s}, x %s, z %s: %s", table.concat(shape, ", "), table.concat(tile, ", "), lx, lz, wrong)
      end
    end
  end
end

-- What lies around a view is left as it was.
local function check_surroundings(h, k)
  local base = gpu.full({ 20, 20 }, 7)
  local view = base:slice({ 4, 16 }, { 3, 11 })
  local shape = view.shape
  k.add2(view:tiles { 8, 8 }, LAYOUTS.plain(shape, fx), LAYOUTS.plain(shape, fy)):sync()
  local want = nested({ 20, 20 }, function(i, j)
    local is_inside = i >= 4 and i <= 16 and j >= 3 and j <= 11
    return is_inside and sum(i - 3, j - 2) or 7.0
  end)
  local wrong = difference(base:to_table(), want)
  h.check(not wrong, "around a view: %s", wrong)
end

local function check_offsets(h, k)
  for offset = 0, 5 do
    local n = 1000
    local x = gpu.from_table(nested({ n + 8 }, fx)):slice { 1 + offset, n + offset }
    local y, z = gpu.from_table(nested({ n }, fy)), gpu.zeros { n + 8 }
    local out = z:slice { 3, n + 2 }
    local want = nested({ n + 8 }, function(i)
      return i >= 3 and i <= n + 2 and fx(i - 2 + offset) + fy(i - 2) or 0.0
    end)
    k.add1(out:tiles { 128 }, x, y):sync()
    local wrong = difference(z:to_table(), want)
    h.check(not wrong, "a tile kernel at offset %d: %s", offset, wrong)
    z:fill(0)
    k.simt(x, y, out):sync()
    wrong = difference(z:to_table(), want)
    h.check(not wrong, "a SIMT kernel at offset %d: %s", offset, wrong)
  end
end

-- Indices in sums and products with constants, which wrap, and as numbers that f32 rounds: 2^24, 2^31.
local INDICES = [[
  #[tile]
  fn indices<const A: i32, const B: i32>(z: &mut Tensor<$T, {[A, B]}>, f: &mut Tensor<f32, {[A, B]}>, far: $T) {
      let row = (iota::<$T>(shape![A]) * 3 + far).reshape(shape![A, 1]).broadcast(shape![A, B]);
      let column = (constant(5, shape![B]) - iota::<$T>(shape![B]) * 7).reshape(shape![1, B]).broadcast(shape![A, B]);
      let all = (column - row + 1) * 9 - (row - 4) + column;
      z.store(all);
      f.store(convert_tile(row - column) * 0.5f32);
  }
]]
local INTEGERS = {
  { "i8", "b", -128, 127, -7 }, { "u8", "B", 0, 255, 130 }, { "i16", "h", 32767, -32768 }, { "i32", "i4", 0, -5, (1 << 24) - 40, -(1 << 24) - 3, (1 << 31) - 9, -(1 << 31) },
  { "u32", "I4", 0, (1 << 24) + 1, (1 << 31) - 9, (1 << 32) - 20 }, { "i64", "i8", 0, (1 << 53) - 1, math.maxinteger - 3 },
}

local function check_indices(h)
  for _, case in ipairs(INTEGERS) do
    local dtype, format = case[1], "<" .. case[2]
    local k = gpu.kernels(INDICES:gsub("%$T", dtype), "indices").indices
    local function wrapped(x) return (string.unpack(format, string.pack("<j", x))) end
    for i = 3, #case do
      local z, f, far = gpu.zeros({ 16, 32 }, dtype), gpu.zeros { 16, 32 }, case[i]
      k(z:tiles { 16, 32 }, f:tiles { 16, 32 }, far):sync()
      local wrong = difference(z:to_table(), nested({ 16, 32 }, function(r, c)
        local row, column = (r - 1) * 3 + far, 5 - (c - 1) * 7
        return wrapped((column - row + 1) * 9 - (row - 4) + column)
      end))
      h.check(not wrong, "sums of indices, %s from %d: %s", dtype, far, wrong)
      wrong = difference(f:to_table(), nested({ 16, 32 }, function(r, c)
        return string.unpack("<f", string.pack("<f", wrapped((r - 1) * 3 + far - 5 + (c - 1) * 7))) * 0.5
      end))
      h.check(not wrong, "distances as floats, %s from %d: %s", dtype, far, wrong)
    end
  end
end

return function(h)
  h.group("shapes.indices", function() check_indices(h) end)
  local k
  h.group("shapes.layouts", function()
    k = gpu.kernels(KERNELS, "shapes")
    check_layouts(h, k)
  end)
  k = k or gpu.kernels(KERNELS, "shapes")
  h.group("shapes.surroundings", function() check_surroundings(h, k) end)
  h.group("shapes.offsets", function() check_offsets(h, k) end)
  h.group("shapes.mutant", function()
    local changed = gpu.kernels((KERNELS:gsub("x%.load_like%(z%) %+", "x.load_like(z) -")), "mutant")
    local z = gpu.zeros { 13, 9 }
    changed.add2(z:tiles { 8, 8 }, LAYOUTS.permuted({ 13, 9 }, fx), LAYOUTS.sliced({ 13, 9 }, fy)):sync()
    h.mutant(difference(z:to_table(), nested({ 13, 9 }, sum)) == nil, "add2")
  end)
  h.group("shapes.outer", function()
    local z = gpu.zeros { 37, 50 }
    k.outer(z:tiles { 16, 32 }, LAYOUTS.plain({ 37 }, fx), LAYOUTS.plain({ 50 }, fy)):sync()
    local want = nested({ 37, 50 }, function(i, j) return fx(i) * fy(j) + 0.5 end)
    local wrong = difference(z:to_table(), want)
    h.check(not wrong, "reshape and broadcast: %s", wrong)
  end)
  h.group("shapes.iota", function()
    for _, n in ipairs { 1, 100, 1000 } do
      local z = gpu.zeros({ n }, "i32")
      k.numbers(z:tiles { 64 }):sync()
      local wrong = difference(z:to_table(), nested({ n }, function(i) return i - 1 end))
      h.check(not wrong, "iota and program_id, %d elements: %s", n, wrong)
    end
  end)
  h.group("shapes.constants", function()
    local z = gpu.zeros { 100 }
    k.constants(z:tiles { 64 }, -0.25):sync()
    local wrong = difference(z:to_table(), nested({ 100 }, function() return 2.25 end))
    h.check(not wrong, "constant and broadcast: %s", wrong)
  end)
  h.group("shapes.blocks", function()
    local z = gpu.zeros({ 5, 7 }, "i32")
    k.blocks(z:tiles { 2, 4 }):sync()
    local wrong = difference(z:to_table(), nested({ 5, 7 }, function(i, j)
      return (i - 1) // 2 * 1000 + (j - 1) // 4 * 100 + 3 * 10 + 2
    end))
    h.check(not wrong, "block ids: %s", wrong)
  end)
  h.group("shapes.reverse", function()
    local z = gpu.zeros { 256 }
    k.reverse(z:tiles { 32 }, LAYOUTS.plain({ 256 }, fx)):sync()
    local wrong = difference(z:to_table(), nested({ 256 }, function(i)
      local block, within = (i - 1) // 32, (i - 1) % 32
      return fx((7 - block) * 32 + within + 1)
    end))
    h.check(not wrong, "a partition of an input, tiles in reverse: %s", wrong)
  end)
  h.group("shapes.empty", function()
    for _, shape in ipairs { { 0 }, { 0, 5 }, { 5, 0 } } do
      local x, y, z = gpu.zeros(shape), gpu.zeros(shape), gpu.zeros(shape)
      local tile = #shape == 1 and { 8 } or { 4, 4 }
      k["add" .. #shape](z:tiles(tile), x, y):sync()
      h.check(#z:to_bytes() == 0, "an empty tensor has values")
    end
    local x, y, z = gpu.zeros { 0 }, gpu.zeros { 0 }, gpu.zeros { 0 }
    k.simt(x, y, z):sync()
    h.check(#z:to_bytes() == 0, "an empty slice has values")
  end)
  h.group("shapes.beyond_4_gib", function()
    if h.device.kind ~= "cuda" or h.device.memory < 20 << 30 then
      return h.skip("it takes a GPU with 20 GiB")
    end
    local rows, columns = (1 << 16) + 1, 1 << 16
    local n = rows * columns -- elements of one byte, so that offsets pass 2^32
    local big = gpu.kernels([[
      #[kernel]
      fn step(x: &[u8], mut z: DisjointSlice<u8>) {
          let idx = thread::index_1d();
          let i = idx.get();
          if let Some(out) = z.get_mut(idx) { *out = x[i] + (i >> 24) as u8; }
      }
      #[tile]
      fn inc<const A: i32, const B: i32>(z: &mut Tensor<u8, {[A, B]}>, x: &Tensor<u8, {[-1, -1]}>) { z.store(x.load_like(z) + 1); }
    ]], "big")
    local x, z = gpu.full({ n }, 3, "u8"), gpu.zeros({ n }, "u8")
    big.step(x, z):sync()
    for _, at in ipairs { 1, (1 << 24) + 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, n } do
      local want = (3 + ((at - 1) >> 24)) & 255
      h.check(z[at] == want, "SIMT element %d is %d, expected %d", at - 1, z[at], want)
    end
    local tail = x:slice { n - 9, n }
    tail:fill(9)
    big.inc(z:reshape({ rows, columns }):tiles { 1, 4096 }, x:reshape { rows, columns }):sync()
    for _, at in ipairs { 1, 1 << 31, (1 << 32) + 1, n - 10, n - 9, n } do
      local want = at >= n - 9 and 10 or 4
      h.check(z[at] == want, "tile element %d is %d, expected %d", at - 1, z[at], want)
    end
  end)
end
