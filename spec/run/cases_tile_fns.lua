-- Functions of cutile::core whose meaning is the compiler's own expansion: partitions in every
-- form, named arithmetic with its modes, array patterns, optional arguments of accesses through
-- pointers. References are loops over plain Lua tables (cases_tile.lua has the operations).
local gpu = require "gpulua"

local KERNELS = [[
  #[tile]
  fn reduce_columns<const A: i32, const B: i32>(s: &mut Tensor<i32, {[B]}>, f: &mut Tensor<i32, {[B]}>, x: &Tensor<i32, {[A, -1]}>) {
      let t = x.load_tile(shape![A, B], [0, program_id(0)]);
      s.store(reduce_sum(t, 0));
      f.store(reduce(t, 0, 100, |acc, v| acc + v * v));
  }
  #[tile]
  fn cube<const A: i32, const B: i32, const C: i32>(z: &mut Tensor<i32, {[C, A, B]}>, x: &Tensor<i32, {[-1, -1, -1]}>) {
      let p = x.partition_permuted(shape![C, A, B], const_array![2, 0, 1]);
      let at = [program_id(0), program_id(1), program_id(2)];
      let [i, .., l] = at;
      let [_, j, _] = at;
      z.store(p.load([i, j, l]));
  }
  #[tile]
  fn nested<const A: i32, const B: i32>(z: &mut Tensor<i32, {[A, B]}>, x: &Tensor<i32, {[-1, -1]}>) {
      let p = make_partition_view(x, shape![A, 1], padding::Zero, dim_map::Identity, new_token_unordered());
      let mut m = z.partition_mut(shape![A, 1]);
      for j in 0..B {
          let column = load_view_tko(&p, [program_id(0), program_id(1) * B + j], ordering::Weak, scope::TileBlock, None, tma::Enabled);
          m.store(column * 2, [0, B - 1 - j]);
      }
  }
  #[tile]
  unsafe fn whole<const A: i32>(z: &mut Tensor<f32, {[A]}>, x: &Tensor<f32, {[-1]}>) {
      let p = make_partition_view(x, shape![A], padding::NegInf, dim_map::Identity, get_tensor_token(x));
      let n = num_tiles(&p, 0);
      let mut m = z.partition_full_mut(shape![A]);
      m.store(p.load([program_id(0)]), [n - 1 - program_id(0)]);
  }
  #[tile]
  fn named<const A: i32>(z: &mut Tensor<i32, {[A]}>, x: &Tensor<i32, {[-1]}>, y: &Tensor<i32, {[-1]}>, which: i32) {
      let a = x.load_like(z);
      let b = y.load_like(z);
      let r = if which == 0 { divi(a, b, rounding::NegativeInf) }
          else if which == 1 { divi(a, b, rounding::PositiveInf) }
          else if which == 2 { remi(a, b) }
          else if which == 3 { mulhii(a, b) }
          else if which == 4 { subi(muli(a, b, overflow::None), absi(a), overflow::NoWrap) }
          else { xori(andi(a, noti(b)), negi(a, overflow::None)) };
      z.store(r);
  }
  #[tile]
  fn roots<const A: i32>(lo: &mut Tensor<f32, {[A]}>, hi: &mut Tensor<f32, {[A]}>, x: &Tensor<f32, {[-1]}>) {
      let t = x.load_like(lo);
      lo.store(sqrt(t, rounding::NegativeInf, ftz::Disabled));
      hi.store(sqrt(t, rounding::PositiveInf, ftz::Disabled));
  }
  #[tile]
  fn nans<const A: i32>(z: &mut Tensor<i32, {[A]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
      let a = x.load_like(z);
      let b = y.load_like(z);
      let zero = constant(0i32, shape![A]);
      let greatest = maxf(a, b, nan::Enabled, ftz::Disabled);
      let other = maxf(a, b, nan::Disabled, ftz::Disabled);
      let mut code = select(ne_tile(greatest, greatest), constant(1i32, shape![A]), zero);
      code = code + select(ne_tile(other, other), constant(2i32, shape![A]), zero);
      code = code + select(cmpf(a, b, predicate::LessThan, cmp_ordering::Ordered), constant(4i32, shape![A]), zero);
      code = code + select(cmpf(a, b, predicate::LessThan, cmp_ordering::Unordered), constant(8i32, shape![A]), zero);
      code = code + select(cmpf(a, b, predicate::Equal, cmp_ordering::Unordered), constant(16i32, shape![A]), zero);
      code = code + select(cmpf(a, b, predicate::NotEqual, cmp_ordering::Ordered), constant(32i32, shape![A]), zero);
      z.store(code);
  }
  #[tile]
  unsafe fn gathered<const A: i32>(out: *mut f32, x: *mut f32, at: &Tensor<i32, {[-1]}>, n: i32) {
      let places = at.load_tile(shape![A], [program_id(0)]);
      let mask = lt_tile(places, n.broadcast(shape![A]));
      let from = pointer_to_tile(x).reshape(shape![1]).broadcast(shape![A]).offset_tile(places);
      let (t, token) = load_ptr_tko(from, ordering::Weak, None::<scope::TileBlock>, Some(mask), Some(-1.5f32), None, Latency::<0>);
      let mine = iota(shape![A]) + (program_id(0) * A).broadcast(shape![A]);
      let to = addptr(pointer_to_tile(out), 1).reshape(shape![1]).broadcast(shape![A]).offset_tile(mine);
      store_ptr_tko(to, t, ordering::Weak, None::<scope::TileBlock>, None, Some(token), Latency::<0>);
  }
]]

local state
local function draw(low, high)
  state = (state * 1103515245 + 12345) % (1 << 31)
  return low + (state >> 8) % (high - low + 1)
end

local function fill(dims, low, high, at)
  at = at or 1
  local t = {}
  for i = 1, dims[at] do t[i] = at == #dims and draw(low, high) or fill(dims, low, high, at + 1) end
  return t
end

local function same(h, got, want, what, ...)
  h.check(got == want, "%s: %s, not %s", what:format(...), tostring(got), tostring(want))
end

local function i32(t) return gpu.from_table(t, "i32") end

local checks = {}

function checks.reductions(h, k)
  local x = fill({ 8, 21 }, -9, 9)
  local s, f = gpu.zeros({ 21 }, "i32"), gpu.zeros({ 21 }, "i32")
  k.reduce_columns(s:tiles { 8 }, f:tiles { 8 }, i32(x)):sync()
  for j = 1, 21 do
    local sum, squares = 0, 100
    for i = 1, 8 do sum, squares = sum + x[i][j], squares + x[i][j] * x[i][j] end
    same(h, s[j], sum, "column %d", j)
    same(h, f[j], squares, "squares of column %d", j)
  end
end

function checks.partitions(h, k)
  local c = fill({ 5, 6, 7 }, -99, 99)
  local z = gpu.zeros({ 7, 5, 6 }, "i32")
  k.cube(z:tiles { 4, 2, 2 }, i32(c)):sync()
  local got = z:to_table()
  for i = 1, 5 do for j = 1, 6 do for l = 1, 7 do same(h, got[l][i][j], c[i][j][l], "cube %d %d %d", i, j, l) end end end

  local x = fill({ 6, 10 }, -99, 99)
  z = gpu.zeros({ 6, 10 }, "i32")
  k.nested(z:tiles { 4, 4 }, i32(x)):sync()
  got = z:to_table()
  for i = 1, 6 do
    for j = 1, 10 do -- columns of each four are turned around; those beyond the tensor read as zero
      local from = (j - 1) // 4 * 4 + 4 - (j - 1) % 4
      same(h, got[i][j], 2 * (x[i][from] or 0), "nested %d %d", i, j)
    end
  end
  local out = gpu.zeros { 10 }
  k.whole(out:tiles { 4 }, gpu.arange(10)):sync()
  for i, want in ipairs { 8, 9, -math.huge, -math.huge, 4, 5, 6, 7, 0, 1 } do same(h, out[i], want, "whole %d", i) end
end

local function wrap32(v) return ((v & 0xffffffff) ~ 0x80000000) - 0x80000000 end

function checks.named(h, k)
  local a, b = {}, {}
  for i = 1, 64 do
    a[i] = draw(-2147483648, 2147483647)
    b[i] = i % 2 == 0 and draw(1, 50) or -draw(1, 50)
  end
  local want = {
    [0] = function(x, y) return x // y end,
    function(x, y) return -(-x // y) end,
    function(x, y) return math.fmod(x, y) end,
    function(x, y) return x * y >> 32 end,
    function(x, y) return x * y - math.abs(x) end,
    function(x, y) return (x & ~y) ~ -x end,
  }
  for which = 0, 5 do
    local z = gpu.zeros({ 64 }, "i32")
    k.named(z:tiles { 64 }, i32(a), i32(b), which):sync()
    for i = 1, 64 do same(h, z[i], wrap32(want[which](a[i], b[i])), "named %d of %d and %d", which, a[i], b[i]) end
  end
end

-- A root rounded down is the greatest f32 whose square is not above; doubles hold squares exactly.
function checks.modes(h, k)
  local function f32(v) return (string.unpack("<f", string.pack("<f", v))) end
  local function beside(v, by) return (string.unpack("<f", string.pack("<i4", string.unpack("<i4", string.pack("<f", v)) + by))) end
  local x = { 1, 2, 3, 4, 5, 0x1p-149, 0x1p-126, 0x1.fffffep127, f32(1e-30), 10, f32(0.1) }
  for i = #x + 1, 64 do x[i] = draw(1, 1 << 22) * 2.0 ^ draw(-60, 40) end
  local lo, hi = gpu.zeros { 64 }, gpu.zeros { 64 }
  k.roots(lo:tiles { 64 }, hi:tiles { 64 }, gpu.from_table(x, "f32")):sync()
  for i = 1, 64 do
    local l, u = lo[i], hi[i]
    h.check(l * l <= x[i] and beside(l, 1) ^ 2 > x[i], "the root of %a rounded down is not %a", x[i], l)
    h.check(u * u >= x[i] and beside(u, -1) ^ 2 < x[i], "the root of %a rounded up is not %a", x[i], u)
  end
  local nan = 0.0 / 0.0
  local a, b = { 1, 2, 2, nan, 1, nan, 3, 0 }, { 2, 1, 2, 1, nan, nan, 3, 5 }
  local z = gpu.zeros({ 8 }, "i32")
  k.nans(z:tiles { 8 }, gpu.from_table(a, "f32"), gpu.from_table(b, "f32")):sync()
  for i, want in ipairs { 44, 32, 16, 25, 25, 27, 16, 44 } do same(h, z[i], want, "nans %d", i) end
end

function checks.pointers(h, k)
  local at, x = fill({ 32 }, 0, 19), fill({ 16 }, -99, 99)
  local out = gpu.full({ 34 }, 7)
  k.gathered:with { A = 16, grid = { 2 } }(out, gpu.from_table(x, "f32"), i32(at), 16):sync()
  same(h, out[1], 7.0, "before the first")
  same(h, out[34], 7.0, "behind the last")
  for i = 1, 32 do same(h, out[i + 1], x[at[i] + 1] or -1.5, "gathered %d", i) end
end

-- A changed function is noticed.
function checks.mutants(h)
  local changed = gpu.kernels((KERNELS:gsub("reduce_sum%(t, 0%)", "reduce_max(t, 0)")), "cases_tile_fns")
  local s, f = gpu.zeros({ 8 }, "i32"), gpu.zeros({ 8 }, "i32")
  changed.reduce_columns(s:tiles { 8 }, f:tiles { 8 }, gpu.ones({ 8, 8 }, "i32")):sync()
  h.mutant(s[1] == 8, "a sum of ones")
end

return function(h)
  local k
  for _, name in ipairs { "reductions", "partitions", "named", "modes", "pointers", "mutants" } do
    h.group("tile_fns." .. name, function()
      state = 12345
      k = k or gpu.kernels(KERNELS, "cases_tile_fns")
      checks[name](h, k)
    end)
  end
end
