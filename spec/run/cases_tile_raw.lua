-- The raw operations of cutile's releases after 0.3.0: addresses of tensors, constant pointers, parts of
-- tiles replaced, integer powers, views of every kind through one load and one store, halves rounded
-- away from zero, and kernels that return from within loops. References are plain Lua.
local gpu = require "gpulua"
local formats = require "formats"

local KERNELS = [[
  use cutile::tileir::*;
  #[tile]
  unsafe fn reversed(z: &mut Tensor<f32, {[4]}>, x: *const f32, n: i32) {
      let last = broadcast_scalar(n - 1, shape![4]);
      let at: Tile<i32, {[4]}> = last - (iota(shape![4]) + program_id(0) * 4);
      let p: PointerTile<*const f32, {[4]}> = pointer_to_tile(x).reshape(shape![1]).broadcast(shape![4]).offset_tile(at);
      let (t, token): (Tile<f32, {[4]}>, Token) = load_ptr_tko(cast_tile_const(cast_tile_mut(p)), ordering::Weak, None::<scope::TileBlock>, None, None, None, Latency::<0>);
      z.set_token(token);
      let stored: Token = z.store(t);
      let _done: Token = join_tokens(&[stored, z.token(), memory_fence_alias_tko(token)]);
  }
  // What the launch may write is reached from the block's own tile, all else from its first element.
  #[tile]
  unsafe fn through_addresses<const B: i32>(z: &mut Tensor<f32, {[B, B]}>, x: &Tensor<f32, {[-1, -1]}>, rows: i32, columns: i32) {
      let from: Tensor<f32, {[-1, -1]}> = make_tensor_view(pointer_to_tile(cast_mut(x.as_ptr())),
          Shape::<{[-1, -1]}> { dims: &[rows, columns] }, Array::<{[-1, 1]}> { dims: &[columns] }, new_token_unordered());
      let t = from.load_tile(shape![B, B], [program_id(0), program_id(1)]);
      let row: Tile<i32, {[B]}> = iota(shape![B]);
      let at = (row * columns).reshape(shape![B, 1]).broadcast(shape![B, B]) + row.reshape(shape![1, B]).broadcast(shape![B, B]);
      let to = get_tensor_base(z).reshape(shape![1, 1]).broadcast(shape![B, B]).offset_tile(at);
      store_ptr_tko(ptr_with_attr_none(to), t * 2.0, ordering::Weak, None::<scope::TileBlock>, None, Some(gdc_wait_tko(None)), Latency::<0>);
      let _signal = gdc_launch_dependents_tko(None);
  }
  #[tile]
  fn insert_line(z: &mut Tensor<i32, {[16]}>, x: &Tensor<i32, {[16]}>, y: &Tensor<i32, {[4]}>, part: i32) {
      let whole = x.load_tile(shape![16], [0]);
      z.store(unsafe { insert(y.load_tile(shape![4], [0]), whole, [scalar_to_tile(part)]) });
  }
  #[tile]
  fn insert_block(z: &mut Tensor<i32, {[8, 4]}>, x: &Tensor<i32, {[8, 4]}>, y: &Tensor<i32, {[2, 2]}>, i: i32, j: i32) {
      let whole = x.load_tile(shape![8, 4], [0, 0]);
      z.store(unsafe { insert(y.load_tile(shape![2, 2], [0, 0]), whole, [scalar_to_tile(i), scalar_to_tile(j)]) });
  }
  #[tile]
  fn powers<E: FloatElement, const B: i32>(z: &mut Tensor<E, {[B]}>, x: &Tensor<E, {[-1]}>, n: &Tensor<i32, {[-1]}>) {
      z.store(unsafe { fpowi(x.load_like(z), n.load_like(z)) });
  }
  #[tile]
  fn near<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
      let t = x.load_like(z);
      z.store(unsafe { exp_with_rounding(t, rounding::Approx) + tanh_with_rounding(t, rounding::Full) + fpowf(absf(t), t) });
  }
  #[tile]
  fn exact<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
      let t = x.load_like(z);
      z.store(exp(t) + tanh(t) + pow(absf(t), t));
  }
  #[tile]
  fn product(z: &mut Tensor<f32, {[16, 16]}>, w: &mut Tensor<f32, {[16, 16]}>, x: &Tensor<f8e4m3fn, {[16, 32]}>, y: &Tensor<f8e4m3fn, {[32, 16]}>) {
      let a = x.load_tile(shape![16, 32], [0, 0]);
      let b = y.load_tile(shape![32, 16], [0, 0]);
      let none = constant(0.0f32, shape![16, 16]);
      z.store(unsafe { mmaf_with_fast_acc(a, b, none, fast_acc::Enabled) });
      w.store(mmaf(a, b, none));
  }
  #[tile]
  fn parity<const A: i32, const B: i32>(z: &mut Tensor<u32, {[B]}>, x: &Tensor<u32, {[A, -1]}>) {
      z.store(reduce_xor(x.load_tile(shape![A, B], [0, program_id(0)]), 0));
  }
  #[tile]
  fn whole_numbers<const B: i32>(zero: &mut Tensor<i32, {[B]}>, sat: &mut Tensor<i8, {[B]}>, away: &mut Tensor<i32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
      let t = x.load_like(zero);
      zero.store(ftoi(t, rounding::NearestIntToZero));
      sat.store(unsafe { ftoi_saturating(t, saturating::Enabled) });
      away.store(ftoi(t, rounding::NearestAway));
  }
  #[tile]
  fn narrow<F: FloatElement, E: FloatElement, const B: i32>(z: &mut Tensor<E, {[B]}>, x: &Tensor<F, {[-1]}>) {
      z.store(ftof(x.load_like(z), rounding::NearestAway));
  }
  #[tile]
  fn narrow_int<I: IntElement, E: FloatElement, const B: i32>(z: &mut Tensor<E, {[B]}>, x: &Tensor<I, {[-1]}>) {
      z.store(itof(x.load_like(z), rounding::NearestAway));
  }
  // Tiles of 4 that start at every second element; what lies beyond is the greatest negative.
  #[tile]
  unsafe fn windows(z: *mut f32, x: &Tensor<f32, {[-1]}>, sums: &Tensor<f32, {[-1]}>, n: i32) {
      let view: StridedView<f32, {[4]}, {[2]}, {[0]}> = make_strided_view(x, shape![4], padding::NegInf);
      let (t, loaded): (Tile<f32, {[4]}>, Token) = load_view_raw(&view, [program_id(0)], None, ordering::Weak, scope::Device, tma::Disabled, None, [false], shape![4]);
      let whole: Tensor<f32, {[-1]}> = make_tensor_view(pointer_to_tile(z), Shape::<{[-1]}> { dims: &[n] }, const_array![1], loaded);
      let to: StridedView<f32, {[4]}, {[4]}, {[0]}> = make_strided_view(&whole, shape![4], padding::None);
      let stored = store_view_raw(&to, t, [program_id(0)], Some(loaded), ordering::Weak, scope::Device, tma::Disabled, None, [false]);
      let add: StridedView<f32, {[4]}, {[2]}, {[0]}> = make_strided_view(sums, shape![4], padding::None);
      let _token: Token = atomic_red_view_raw(&add, constant(1.0f32, shape![4]), [program_id(0)], atomic::AddF, ordering::Relaxed, scope::Device, Some(stored));
  }
  // The axes of the tile exchanged.
  #[tile]
  unsafe fn turned(z: &Tensor<i32, {[-1, -1]}>, x: &Tensor<i32, {[-1, -1]}>) {
      let from: StridedView<i32, {[2, 4]}, {[2, 4]}, {[1, 0]}> = make_strided_view(x, shape![2, 4], padding::Zero);
      let to: StridedView<i32, {[2, 4]}, {[2, 4]}, {[1, 0]}> = make_strided_view(z, shape![2, 4], padding::None);
      let at = [program_id(0), program_id(1)];
      let (t, token): (Tile<i32, {[2, 4]}>, Token) = load_view_raw(&from, at, None, ordering::Weak, scope::Device, tma::Disabled, None, [false, false], shape![2, 4]);
      let _token: Token = store_view_raw(&to, t + 1, at, Some(token), ordering::Weak, scope::Device, tma::Disabled, None, [true, true]);
  }
  #[tile]
  unsafe fn sparse(z: &Tensor<i32, {[2, -1, 2]}>, x: &Tensor<i32, {[2, -1, 2]}>, at: &Tensor<i32, {[-1]}>) {
      let from: GatherScatterView<i32, {[1, 4, 2]}, 1> = make_gather_scatter_view(x, shape![1, 4, 2], padding::Zero);
      let to: GatherScatterView<i32, {[1, 4, 2]}, 1> = make_gather_scatter_view(z, shape![1, 4, 2], padding::None);
      let lines = at.load_tile(shape![4], [program_id(0)]);
      let back = 11 - lines;
      let (t, token): (Tile<i32, {[1, 4, 2]}>, Token) = load_view_raw(&from, (program_id(1), lines, 0), None, ordering::Weak, scope::Device, tma::Disabled, None, [false, false, false], shape![1, 4, 2]);
      let _token: Token = store_view_raw(&to, t, (program_id(1), back, 0), Some(token), ordering::Weak, scope::Device, tma::Disabled, None, [false, false, false]);
  }
  #[tile]
  unsafe fn parts(z: &mut Tensor<i32, {[8]}>, x: &Tensor<i32, {[-1]}>) {
      let p = make_partition_view(x, shape![4], padding::Zero, dim_map::Identity, x.token());
      let m = make_partition_view_mut(z, shape![4], padding::Zero, z.token());
      for k in 0..2 {
          let (t, token): (Tile<i32, {[4]}>, Token) = load_view_raw(&p, [program_id(0) * 2 + k], None, ordering::Weak, scope::Device, tma::Enabled, Some(4), [false], shape![4]);
          let _token: Token = store_view_raw(&m, t * 3, [program_id(0) * 2 + k], Some(token), ordering::Weak, scope::Device, tma::Enabled, None, [false]);
      }
  }
  fn first_above(limit: i32) -> i32 {
      let mut i = 0;
      loop {
          if i * i > limit { return i; }
          i += 1;
      }
  }
  #[tile]
  fn leaves(z: &mut Tensor<i32, {[4]}>, exit: i32) {
      loop {
          if exit == 1 { return; }
          break;
      }
      let mut i = 0;
      while i < 10 {
          if exit == 2 && i == 3 { return; }
          i += 1;
      }
      for k in 0..4 {
          z.store(constant(k, shape![4]));
          if exit == 3 && k == 2 { return; }
      }
      z.store(constant(first_above(exit), shape![4]));
  }
]]

local function equal(h, what, got, want)
  for i = 1, #want do
    if not h.check(got[i] == want[i], "%s: element %d is %s, expected %s", what, i - 1, got[i], want[i]) then return end
  end
end

local function ints(n, f)
  local t = {}
  for i = 1, n do t[i] = f(i - 1) end
  return t
end

local function addresses(h, k)
  local z, x = gpu.zeros { 22 }, gpu.arange(24)
  k.reversed(z:tiles { 4 }, x, 24):sync()
  equal(h, "a constant pointer", z:to_table(), ints(22, function(i) return 23 - i end))
  z, x = gpu.zeros { 8, 12 }, gpu.arange(96):view { 8, 12 }
  k.through_addresses(z:tiles { 4, 4 }, x, 8, 12):sync()
  equal(h, "through addresses", z:view { 96 }:to_table(), ints(96, function(i) return 2 * i end))
end

local function inserted(h, k)
  local x, y = gpu.from_table(ints(16, function(i) return i end), "i32"), gpu.from_table({ 50, 51, 52, 53 }, "i32")
  for part = 0, 5 do -- counts modulo 4
    local z = gpu.zeros({ 16 }, "i32")
    k.insert_line(z:tiles { 16 }, x, y, part):sync()
    equal(h, "insert", z:to_table(), ints(16, function(i) return i // 4 == part % 4 and 50 + i % 4 or i end))
  end
  x, y = gpu.from_table(ints(32, function(i) return i end), "i32"):view { 8, 4 }, y:view { 2, 2 }
  for i = 0, 3 do
    for j = 0, 1 do
      local z = gpu.zeros({ 8, 4 }, "i32")
      k.insert_block(z:tiles { 8, 4 }, x, y, i, j):sync()
      equal(h, "insert of a matrix", z:view { 32 }:to_table(), ints(32, function(e)
        local row, column = e // 4, e % 4
        local is_in = row // 2 == i and column // 2 == j
        return is_in and 50 + row % 2 * 2 + column % 2 or e
      end))
    end
  end
end

-- Squares and products in the kernel's own type, each rounded.
local function power(f, x, n)
  local r, e = 1.0, math.abs(n)
  while e > 0 do
    if e % 2 == 1 then r = formats.round(f, r * x) end
    e, x = e // 2, formats.round(f, x * x)
  end
  return n < 0 and formats.round(f, 1.0 / r) or r
end

local function powers(h, k)
  for _, dtype in ipairs { "f32", "f64", "f16", "bf16" } do
    local f, xs, ns, want = formats.of[dtype], {}, {}, {}
    for i = 1, 37 do
      xs[i], ns[i] = (i % 7 - 3) / 2, ({ 0, 1, 2, 3, 5, 10, -1, -2, -3, 31 })[i % 10 + 1]
      want[i] = power(f, xs[i], ns[i])
    end
    local z = gpu.zeros({ 37 }, dtype)
    k.powers(z:tiles { 16 }, gpu.from_table(xs, dtype), gpu.from_table(ns, "i32")):sync()
    equal(h, "fpowi of " .. dtype, z:to("cpu"):to_table(), want)
  end
  local x = gpu.rand { 50 }
  local z, w = gpu.zeros { 50 }, gpu.zeros { 50 }
  k.near(z:tiles { 16 }, x):sync()
  k.exact(w:tiles { 16 }, x):sync()
  for i = 1, 50 do -- a special function unit is near in both, and need not be equally so
    h.check(math.abs(z[i] - w[i]) <= 2.0 ^ -20 * w[i], "exp, tanh and pow by their raw names: %s and %s", z[i], w[i])
  end
end

local function sums(h, k)
  local a = gpu.from_table(ints(512, function(i) return (i * 7 % 9 - 4) / 2 end), "f8e4m3fn"):view { 16, 32 }
  local b = gpu.from_table(ints(512, function(i) return (i * 5 % 7 - 3) / 2 end), "f8e4m3fn"):view { 32, 16 }
  local z, w = gpu.zeros { 16, 16 }, gpu.zeros { 16, 16 }
  k.product(z:tiles { 16, 16 }, w:tiles { 16, 16 }, a, b):sync()
  equal(h, "mmaf_with_fast_acc", z:view { 256 }:to_table(), w:view { 256 }:to_table())
  local x = gpu.from_table(ints(8 * 21, function(i) return i * 2654435761 & 0xffffffff end), "u32"):view { 8, 21 }
  local p, from = gpu.zeros({ 21 }, "u32"), x:to_table()
  k.parity(p:tiles { 8 }, x):sync()
  equal(h, "reduce_xor", p:to_table(), ints(21, function(j)
    local all = 0
    for i = 1, 8 do all = all ~ from[i][j + 1] end
    return all
  end))
end

local function truncated(v) return v < 0 and math.ceil(v) or math.floor(v) end

local function rounded(h, k)
  local values = { 0, 0.5, -0.5, 1.5, -1.5, 2.5, 1.9, -1.9, 300, -300, 0.49999997, 127.6, -128.5, 1e6 }
  local n = #values
  local zero, sat, away = gpu.zeros({ n }, "i32"), gpu.zeros({ n }, "i8"), gpu.zeros({ n }, "i32")
  k.whole_numbers(zero:tiles { 4 }, sat:tiles { 4 }, away:tiles { 4 }, gpu.from_table(values)):sync()
  equal(h, "ftoi to zero", zero:to_table(), ints(n, function(i) return truncated(values[i + 1]) end))
  equal(h, "ftoi_saturating", sat:to_table(), ints(n, function(i)
    return math.max(-128, math.min(127, truncated(values[i + 1])))
  end))
  equal(h, "ftoi, halves away", away:to_table(), ints(n, function(i)
    local v = values[i + 1]
    return truncated(v + (v < 0 and -0.5 or 0.5) * (math.abs(v) < 0.5 and 0 or 1))
  end))
end

-- The code of a number of f64 in the format, halves away from zero: between the two numbers beside it.
local function away_code(f, v)
  local nearest = formats.encode(f, v)
  local r = formats.decode(f, nearest)
  if v ~= v or r == v or math.abs(r) == math.huge or math.abs(r) > math.abs(v) then return nearest end
  local next_code = nearest + (f.name == "tf32" and 1 << 13 or 1)
  local beyond = formats.decode(f, next_code)
  return math.abs(beyond) - math.abs(v) == math.abs(v) - math.abs(r) and next_code or nearest
end

-- Every kind of place between two numbers: on one, at the half, beside the half, and beyond the last.
local function between(f)
  local values = {}
  for _, code in ipairs(formats.data(f, 40, 5)) do
    local r = formats.decode(f, code)
    local beyond = formats.decode(f, code + (f.name == "tf32" and 1 << 13 or 1))
    local half = (r + beyond) / 2
    if half == half and math.abs(half) < 3e38 then
      for _, v in ipairs { r, half, half * (1 + 2 ^ -30), half * (1 - 2 ^ -30) } do values[#values + 1] = v end
    end
  end
  return values
end

local function halves_away(h, k)
  for _, dtype in ipairs { "f32", "f16", "bf16", "tf32", "f8e4m3fn", "f8e5m2" } do
    local f = formats.of[dtype]
    local values, want = between(f), {}
    for i, v in ipairs(values) do want[i] = away_code(f, v) end
    local z = gpu.zeros({ #values }, dtype)
    k.narrow(z:tiles { 16 }, gpu.from_table(values, "f64")):sync()
    local is_right, wrong = h.compare(dtype, z:to_bytes(), want, 0)
    h.check(is_right, "f64 to %s, halves away: %s", dtype, wrong)
  end
  local whole = { (1 << 24) + 1, (1 << 24) + 3, -(1 << 24) - 1, (1 << 53) + 1, (1 << 54) + 2, (1 << 54) + 6, (1 << 62) + 1, 7,
    (1 << 40) + (1 << 16), (1 << 40) + (1 << 16) + 1, (1 << 40) + (1 << 16) - 1 }
  for dtype, bits in pairs { f32 = 24, f64 = 53 } do
    local z = gpu.zeros({ #whole }, dtype)
    k.narrow_int(z:tiles { 16 }, gpu.from_table(whole, "i64")):sync()
    equal(h, "i64 to " .. dtype .. ", halves away", z:to_table(), ints(#whole, function(i)
      local v, sign = math.abs(whole[i + 1]), whole[i + 1] < 0 and -1 or 1
      local drop = 0
      while v >> drop >= 1 << bits do drop = drop + 1 end
      return sign * (drop == 0 and v or v + (1 << drop - 1) >> drop << drop) + 0.0
    end))
  end
end

local function views(h, k)
  local n = 13
  local x, z, counts = gpu.arange(n), gpu.zeros { 28 }, gpu.zeros { n }
  k.windows:with { grid = { 7 } }(z, x, counts, 28):sync()
  equal(h, "overlapping windows", z:to_table(), ints(28, function(i)
    local at = i // 4 * 2 + i % 4
    return at < n and at or -math.huge
  end))
  equal(h, "updates of windows", counts:to_table(), ints(n, function(i) return (i < 2) and 1 or 2 end))
  local m, w = gpu.from_table(ints(60, function(i) return i end), "i32"):view { 10, 6 }, gpu.zeros({ 10, 6 }, "i32")
  k.turned:with { grid = { 3, 3 } }(w, m):sync()
  equal(h, "turned tiles", w:view { 60 }:to_table(), ints(60, function(i) return i + 1 end))
end

local function gathers(h, k)
  local x = gpu.from_table(ints(48, function(i) return i + 1 end), "i32"):view { 2, 12, 2 }
  local z, lines = gpu.zeros({ 2, 12, 2 }, "i32"), ints(12, function(i) return i * 5 % 12 end)
  lines[12] = 30 -- neither there nor anywhere
  k.sparse:with { grid = { 3, 2 } }(z, x, gpu.from_table(lines, "i32")):sync()
  local want = ints(48, function() return 0 end)
  for i = 1, 11 do
    for plane = 0, 1 do
      for c = 0, 1 do
        want[plane * 24 + (11 - lines[i]) * 2 + c + 1] = plane * 24 + lines[i] * 2 + c + 1
      end
    end
  end
  equal(h, "gathered and scattered lines", z:view { 48 }:to_table(), want)
  z = gpu.zeros({ 13 }, "i32")
  k.parts(z:tiles { 8 }, gpu.from_table(ints(13, function(i) return i end), "i32")):sync()
  equal(h, "partitions as raw views", z:to_table(), ints(13, function(i) return 3 * i end))
end

local function leaves(h, k)
  for exit, want in pairs { [0] = 1, [1] = 7, [2] = 7, [3] = 2, [24] = 5 } do
    local z = gpu.full({ 6 }, 7, "i32")
    k.leaves(z:tiles { 4 }, exit):sync()
    equal(h, ("return with %d"):format(exit), z:to_table(), ints(6, function() return want end))
  end
end

return function(h)
  local k = gpu.kernels(KERNELS, "raw")
  h.group("raw.addresses", function() addresses(h, k) end)
  h.group("raw.insert", function() inserted(h, k) end)
  h.group("raw.powers", function() powers(h, k) end)
  h.group("raw.sums", function() sums(h, k) end)
  h.group("raw.rounding", function() rounded(h, k) end)
  h.group("raw.halves", function() halves_away(h, k) end)
  h.group("raw.views", function() views(h, k) end)
  h.group("raw.gathers", function() gathers(h, k) end)
  h.group("raw.return", function() leaves(h, k) end)
end
