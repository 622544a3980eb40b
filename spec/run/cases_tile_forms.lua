-- Forms of the language in tile kernels that the peer's does not have: every form once, with its value.
local gpu = require "gpulua"

local KERNELS = [[
use core::ops::Add;
#[derive(Clone, Copy)]
struct Pair { a: f32, n: i32 }
impl Add for Pair { type Output = Pair; fn add(self, o: Pair) -> Pair { Pair { a: self.a + o.a, n: self.n + o.n } } }
fn twice<E: ElementType, const S: [i32; 1]>(x: Tile<E, S>) -> Tile<E, S> { x + x }
struct Labelled(Tile<i32, {[8]}>, i32);
enum Kind { Some(Labelled), None }
fn of_one<T, U, F: Fn(T) -> U>(x: T, f: F) -> U { f(x) }
fn of_two<T, U, V, F: Fn(T, U) -> V>(x: T, y: U, f: F) -> V { f(x, y) }
fn pick(n: i32) -> Option<i32> { if n > 2 { Some(n) } else { None } }

#[tile]
fn floats(z: &mut Tensor<f32, {[8]}>, x: &Tensor<f32, {[-1]}>, n: i32) {
    let mut t = x.load_tile(shape![8], [program_id(0)]);
    t += 1.0;
    t *= t;
    t -= 2.0 * t;
    t /= 2.0;
    t = -t;
    let k = !(t > 3.0);
    t = if n > 0 { t } else { twice(t) };
    let f = |v: f32| v + 1.0;
    let p = Pair { a: f(2.0), n: 1 } + Pair { a: 1.0, n };
    let s = match n { 0 => 1.0f32, 1 | 2 => 2.0, 3..=5 => 3.0, _ => p.a };
    if let Some(v) = pick(n) { t += v as f32; }
    for i in (0..=3).rev() { t += i as f32 * s; }
    let mut w = 0;
    while w < 3 { w += 1; t = select(k, t, t + 1.0); }
    z.store(t + p.n as f32);
}

#[tile]
fn integers(z: &mut Tensor<i32, {[8]}>) {
    let mut i: Tile<i32, {[8]}> = iota(shape![8]);
    i <<= 1;
    i |= 1;
    i &= 7;
    i ^= 2;
    i %= 5;
    i >>= 1;
    z.store(!i + i * 3);
}

#[tile]
fn constructors(z: &mut Tensor<i32, {[8]}>, n: i32) {
    let make = Labelled;
    let a = make(iota(shape![8]), n);
    let b = of_two(a.0, a.1 + 1, Labelled);
    let both = if n > 2 { of_one(b, Kind::Some) } else { Kind::None };
    z.store(match both { Kind::Some(Labelled(t, k)) => t * k, Kind::None => constant(-1, shape![8]) });
}

#[tile]
fn row_sums<const N: i32>(z: &mut Tensor<f32, {[1]}>, x: &Tensor<f32, {[-1, -1]}>) {
    z.store(reduce_sum(x.load_tile(shape![1, N], [program_id(0), 0]), 1));
}

#[tile]
fn exps<const N: i32>(z: &mut Tensor<f32, {[N]}>, x: &Tensor<f32, {[-1]}>) { z.store(exp(x.load_like(z))); }

// Rows that begin at element 3, at no multiple of 16 bytes.
use cutile::tileir::*;
#[tile]
unsafe fn window_sums<const N: i32>(z: &mut Tensor<f32, {[1]}>, x: &Tensor<f32, {[-1, -1]}>) {
    let v: StridedView<f32, {[1, N]}, {[1, 3]}, {[0, 1]}> = make_strided_view(x, shape![1, N], padding::Zero);
    let (t, _) = load_strided_view_tko(&v, [program_id(0), 1], new_token_unordered(), ordering::Relaxed, scope::TileBlock);
    z.store(reduce_sum(t, 1));
}

#[tile]
fn six<const B: i32>(z: &mut Tensor<f32, {[2, 2, 2, 2, 2, 2]}>, x: &Tensor<f32, {[-1]}>) {
    let t = x.load_tile(shape![B * 2], [0]);
    let u: Tile<f32, {[B + B]}> = t;
    z.store(permute(u.reshape(shape![2, 2, 2, 2, 2, 2]), const_array![5, 4, 3, 2, 1, 0]) * 2.0);
}
]]

-- Rows that blocks fetch for those that come later, as sm_90 can, are read by them alone.
local function ahead(h, k)
  local rows = 700
  local x = gpu.rand { rows, 512 }
  for name, is_ahead in pairs { row_sums = true, window_sums = false } do
    local want
    for stages = 1, 3 do
      local z = gpu.full({ rows }, -1)
      local sums = k[name]:with { N = 512, warps = 2, stages = stages }
      sums(z:tiles { 1 }, x):sync()
      want = want or z:to_bytes()
      h.check(z:to_bytes() == want, "%s: %d stages give other sums", name, stages)
      local got = sums:info(z:tiles { 1 }, x).stages
      h.check(got == nil or got == (is_ahead and h.device.sm >= 90 and stages or 1), "%s: %s stages, not %d", name, got, stages)
    end
  end
end

-- A sum of zeros has their sign, where they are all minus zero.
local function signs(h, k)
  local x, z = gpu.full({ 2, 64 }, -0.0), gpu.zeros { 2 }
  x[{ 2, 9 }] = 0.0
  k.row_sums:with { N = 64 }(z:tiles { 1 }, x):sync()
  h.check(1 / z[1] == -math.huge and 1 / z[2] == math.huge, "sums of zeros: %s and %s", 1 / z[1], 1 / z[2])
end

-- exp where its results are greatest and least. The virtual device's 2^x is rounded to the nearest, so that what the argument adds
-- is seen; a GPU's own is a unit off.
local function ends(h, k)
  local wide, values = 4096, { math.huge, -math.huge, 0 / 0, 88.73, -104 }
  for i = #values + 1, wide do values[i] = i % 2 == 0 and 87 + 1.7228 * math.random() or -87 - 17 * math.random() end
  local x, z = gpu.from_table(values, "f32"), gpu.zeros { wide }
  k.exps:with { N = wide }(z:tiles { wide }, x):sync()
  local got, bound = z:to_table(), h.device.product == "virtual" and 1.25 or 2
  h.check(got[1] == math.huge and got[2] == 0 and got[3] ~= got[3] and got[4] == math.huge and got[5] == 0, "exp of infinities, NaN and beyond")
  for i, v in ipairs(x:to_table()) do
    local want = math.exp(v)
    local unit = 2.0 ^ (math.max(math.floor(v / math.log(2)), -126) - 23)
    if i > 5 then h.check(math.abs(got[i] - want) <= bound * unit, "exp(%a) is %a, not %a", v, got[i], want) end
  end
end

local function floats(h, k)
  local x = gpu.arange(16)
  for _, n in ipairs { 0, 1, 4, 9 } do
    local z = gpu.zeros { 16 }
    k.floats(z:tiles { 8 }, x, n):sync()
    for i = 0, 15 do
      local t = (i + 1) ^ 2 / 2
      local small = t <= 3
      if n == 0 then t = 2 * t end
      local s = n == 0 and 1 or n <= 2 and 2 or n <= 5 and 3 or 4
      if n > 2 then t = t + n end
      t = t + 6 * s + (small and 0 or 3) + n + 1
      h.check(z[i + 1] == t, "floats %d %d: %s, not %s", n, i, z[i + 1], t)
    end
  end
end

local function integers(h, k)
  local z = gpu.zeros({ 8 }, "i32")
  k.integers(z:tiles { 8 }):sync()
  for n = 0, 7 do
    local i = ((((n << 1) | 1) & 7) ~ 2) % 5 >> 1
    h.check(z[n + 1] == -1 - i + i * 3, "integers %d: %s", n, z[n + 1])
  end
end

local function constructors(h, k)
  local z = gpu.zeros({ 16 }, "i32")
  for _, n in ipairs { 1, 3 } do
    k.constructors(z:tiles { 8 }, n):sync()
    for i = 0, 15 do
      local want = n > 2 and i % 8 * (n + 1) or -1
      h.check(z[i + 1] == want, "constructors %d %d: %s, not %d", n, i, z[i + 1], want)
    end
  end
end

local function six(h, k)
  local z = gpu.zeros { 2, 2, 2, 2, 2, 2 }
  k.six:with { B = 32 }(z:tiles { 2, 2, 2, 2, 2, 2 }, gpu.arange(64)):sync()
  for i = 0, 63 do
    local at, from = {}, 0
    for a = 0, 5 do
      local bit = i >> (5 - a) & 1
      at[a + 1], from = bit + 1, from | bit << a
    end
    h.check(z[at] == 2 * from, "six %d: %s, not %s", i, z[at], 2 * from)
  end
end

return function(h)
  local k
  for _, case in ipairs { { "floats", floats }, { "integers", integers }, { "constructors", constructors }, { "six", six }, { "ahead", ahead },
    { "signs", signs }, { "ends", ends } } do
    h.group("tile_forms." .. case[1], function()
      k = k or gpu.kernels(KERNELS, "cases_tile_forms")
      case[2](h, k)
    end)
  end
end
