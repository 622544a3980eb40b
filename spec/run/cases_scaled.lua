-- Products of matrices with scales in blocks, and elements that lie two in a byte. Values are such
-- that every sum is exact.
local gpu = require "gpulua"
local formats = require "formats"

local function filled(text, words) return (text:gsub("%$(%w+)", words)) end

local PRODUCT = [[
  #[tile]
  fn f(z: &mut Tensor<f32, {[16, 8]}>, x: &Tensor<$X, {[-1, -1]}>, y: &Tensor<$X, {[-1, -1]}>, u: &Tensor<$S, {[-1, -1]}>, v: &Tensor<$S, {[-1, -1]}>) {
      let px = x.partition(shape![16, 64]);
      let py = y.partition(shape![64, 8]);
      let pu = u.partition(shape![16, 64 / $B]);
      let pv = v.partition(shape![64 / $B, 8]);
      let mut acc = constant(1.0f32, shape![16, 8]);
      for k in 0..num_tiles(&px, 1) {
          acc = mmaf_scaled(px.load([program_id(0), k]), py.load([k, program_id(1)]), acc, pu.load([program_id(0), k]), pv.load([k, program_id(1)]));
      }
      z.store(acc);
  }
]]
local ROWS = {
  { "f8e4m3fn", "f8e8m0fnu", 32 }, { "f8e5m2", "f8e8m0fnu", 32 }, { "f4e2m1fn", "f8e8m0fnu", 32 },
  { "f4e2m1fn", "f8e8m0fnu", 16 }, { "f4e2m1fn", "f8e4m3fn", 16 }, { "f4e2m1fn", "f8e5m3fnu", 16 },
}

local function drawn(random, values, rows, columns)
  local t = {}
  for i = 1, rows do
    t[i] = {}
    for j = 1, columns do t[i][j] = values[(random() >> 33) % #values + 1] end
  end
  return t
end

-- Ragged in every axis but the one that is summed over, where a last block without scales would count.
local function check_product(h, elem, scale, block)
  local text = filled(PRODUCT, { X = elem, S = scale, B = block })
  local k = gpu.kernels(text, "scaled").f
  local wrong = gpu.kernels((text:gsub("constant%(1%.0f32", "constant(0.0f32")), "scaled").f
  local m, n, depth = 29, 13, 192
  local random = formats.random(h.seed_of("scaled", elem, scale, block))
  local x = drawn(random, { 0.0, 0.5, 1.0, -1.5, 2.0, -3.0 }, m, depth)
  local y = drawn(random, { 0.0, 0.5, -1.0, 1.5, -2.0, 4.0 }, depth, n)
  local u = drawn(random, { 0.5, 1.0, 2.0 }, m, depth // block)
  local v = drawn(random, { 0.25, 1.0, 4.0 }, depth // block, n)
  local z, z0 = gpu.zeros { m, n }, gpu.zeros { m, n }
  local args = { gpu.from_table(x, elem), gpu.from_table(y, elem), gpu.from_table(u, scale), gpu.from_table(v, scale) }
  k(z:tiles { 16, 8 }, table.unpack(args)):sync()
  wrong(z0:tiles { 16, 8 }, table.unpack(args)):sync()
  local got, other, is_noticed = z:to_table(), z0:to_table(), false
  for i = 1, m do
    for j = 1, n do
      local sum = 1
      for l = 1, depth do
        local b = (l - 1) // block + 1
        sum = sum + x[i][l] * u[i][b] * y[l][j] * v[b][j]
      end
      is_noticed = is_noticed or other[i][j] ~= sum
      if not h.check(got[i][j] == sum, "%s by %s in blocks of %d: [%d, %d] is %s, expected %s", elem, scale, block, i, j,
        got[i][j], sum) then return end
    end
  end
  h.mutant(not is_noticed, "mmaf_scaled")
  if h.device.kind ~= "cuda" then
    local ok, ptx = pcall(k.inspect, k, "ptx", "sm_90")
    h.check(ok, "PTX: %s", tostring(ptx))
  end
end

local PACKED = [[
  #[tile]
  fn numbers<const A: i32, const B: i32>(z: &mut Tensor<f32, {[A, 2 * B]}>, x: &Tensor<f4e2m1fnx2, {[-1, B]}>) {
      let t = x.load_tile(shape![A, B], [program_id(0), 0]).unpack(shape![A, 2 * B]);
      z.store(convert_tile(t));
  }
  #[tile]
  fn bytes<const A: i32, const B: i32>(z: &mut Tensor<u8, {[A, B]}>, x: &Tensor<f32, {[-1, 2 * B]}>) {
      let t: Tile<f4e2m1fn, {[A, 2 * B]}> = convert_tile(x.load_tile(shape![A, 2 * B], [program_id(0), 0]));
      z.store(t.pack(shape![A, B]));
  }
  #[tile]
  fn signed(z: &mut Tensor<i32, {[16, 32]}>, x: &Tensor<u8, {[-1, 16]}>) {
      let t: Tile<i4, {[16, 32]}> = unpack(x.load_tile(shape![16, 16], [0, 0]));
      z.store(convert_tile(t));
  }
  #[tile]
  fn words(z: &mut Tensor<i32, {[16]}>, x: &Tensor<i32, {[-1]}>) {
      let bytes: Tile<u8, {[64]}> = pack(x.load_like(z));
      let nibbles: Tile<i4, {[128]}> = unpack(bytes);
      let again: Tile<u8, {[64]}> = pack(nibbles);
      z.store(unpack(again));
  }
  #[tile]
  fn line(z: &mut Tensor<i8, {[16]}>, x: &Tensor<i8, {[-1]}>) {
      let t: Tile<f4e2m1fn, {[32]}> = unpack(x.load_like(z));
      z.store(pack(t));
  }
]]

local function check_packed(h)
  local k, f = gpu.kernels(PACKED, "packed"), formats.of.f4e2m1fn
  local bytes, numbers = {}, {}
  for i = 0, 255 do
    bytes[i + 1] = i
    numbers[2 * i + 1], numbers[2 * i + 2] = formats.decode(f, i & 0xf), formats.decode(f, i >> 4)
  end
  local packed = h.tensor("u8", string.char(table.unpack(bytes)), { 16, 16 })
  local z = gpu.zeros { 16, 32 }
  k.numbers:with { A = 4, B = 16 }(z:tiles { 4, 32 }, packed):sync()
  for i, want in ipairs(numbers) do
    local got = z[{ (i - 1) // 32 + 1, (i - 1) % 32 + 1 }]
    h.check(got == want and 1 / got == 1 / want, "element %d is %s, expected %s", i, got, want)
  end
  local back = gpu.zeros({ 16, 16 }, "u8")
  k.bytes:with { A = 4, B = 16 }(back:tiles { 4, 16 }, z):sync()
  h.check(back:to_bytes() == packed:to_bytes(), "numbers do not become the bytes they were of")
  local signed, i4 = gpu.zeros({ 16, 32 }, "i32"), formats.of.i4
  k.signed(signed:tiles { 16, 32 }, packed):sync()
  for i = 0, 511 do
    local got, want = signed[{ i // 32 + 1, i % 32 + 1 }], formats.wrap(i4, i // 2 >> 4 * (i % 2))
    h.check(got == want, "nibble %d is %s, expected %s", i, got, want)
  end
  local words = h.tensor("i32", packed:to_bytes(), { 64 })
  local same = gpu.zeros({ 64 }, "i32")
  k.words(same:tiles { 16 }, words):sync()
  h.check(same:to_bytes() == words:to_bytes(), "words of i4 do not come back")
  local line = gpu.zeros({ 40 }, "i8")
  k.line(line:tiles { 16 }, h.tensor("i8", packed:to_bytes():sub(100, 139))):sync()
  h.check(line:to_bytes() == packed:to_bytes():sub(100, 139), "pack(unpack(x)) is not x")
end

local WIDE = [[
  #[tile]
  fn unpacked<const N: i32>(z: &mut Tensor<$T, {[N]}>, x: &Tensor<u8, {[-1]}>) {
      z.store(unpack(x.load_tile(shape![$S * N], [program_id(0)])));
  }
  #[tile]
  fn packed<const N: i32>(z: &mut Tensor<u8, {[$S * N]}>, x: &Tensor<$T, {[-1]}>) {
      z.store(pack(x.load_tile(shape![N], [program_id(0)])));
  }
]]

-- Elements of more than a byte are their bytes in storage, the lowest first.
local function check_wide(h)
  for _, dtype in ipairs { "i8", "f8e5m2", "i16", "f16", "bf16", "u32", "f32", "i64", "f64" } do
    local size = formats.of[dtype].size
    local k = gpu.kernels((WIDE:gsub("%$(%w+)", { T = dtype, S = size })), "wide")
    local bytes = {}
    for i = 1, 64 * size do bytes[i] = string.char((i * 37 + 11) % 120) end -- no NaN, whose bits may change
    bytes = table.concat(bytes)
    local z, back = gpu.zeros({ 64 }, dtype), gpu.zeros({ 64 * size }, "u8")
    k.unpacked:with { N = 16 }(z:tiles { 16 }, h.tensor("u8", bytes)):sync()
    h.check(z:to_bytes() == bytes, "unpack to %s", dtype)
    k.packed:with { N = 16 }(back:tiles { 16 * size }, z):sync()
    h.check(back:to_bytes() == bytes, "pack of %s", dtype)
    h.mutant(z:to_bytes() == bytes:reverse(), "the order of bytes of " .. dtype)
  end
end

return function(h)
  for _, row in ipairs(ROWS) do
    h.group(("scaled.%s.%s.%d"):format(table.unpack(row)), function() check_product(h, table.unpack(row)) end)
  end
  h.group("scaled.packed", check_packed)
  h.group("scaled.wide", check_wide)
end
