-- Modes of named arithmetic: rounding in a direction where MPFR's vectors (cases_mpfr.lua) do not
-- reach, and subnormal numbers that count as zero.
local gpu = require "gpulua"
local formats = require "formats"

local function filled(text, words) return (text:gsub("%$(%w+)", words)) end

-- Of f8e4m3fn, which ends at 448, all sums.
local DIRECTED = "#[tile] fn f<const B: i32>(z: &mut Tensor<$T, {[B]}>, x: &Tensor<$T, {[-1]}>, y: &Tensor<$T, {[-1]}>) " ..
  "{ z.store(addf(x.load_like(z), y.load_like(z), rounding::$mode, ftz::Disabled)); }"

local function check_directed(h)
  local dtype, values, by_value = "f8e4m3fn", {}, {}
  local f, xs, ys = formats.of[dtype], {}, {}
  for code = 0, 255 do
    local v = formats.decode(f, code)
    if v == v and not by_value[v] then
      values[#values + 1], by_value[v] = v, code
    end
    for other = 0, 255 do xs[#xs + 1], ys[#ys + 1] = code, other end
  end
  table.sort(values)
  local x, y = h.tensor(dtype, formats.pack(f, xs)), h.tensor(dtype, formats.pack(f, ys))
  -- The greatest value not above s.
  local function below(s)
    local low, high = 1, #values
    while low < high do
      local middle = (low + high + 1) // 2
      if values[middle] <= s then low = middle else high = middle - 1 end
    end
    return values[low]
  end
  local function above(s) return -below(-s) end
  local ROUND = { NegativeInf = below, PositiveInf = above, Zero = function(s) return s < 0 and above(s) or below(s) end }
  for mode, round in pairs(ROUND) do
    local want = {}
    for i in ipairs(xs) do
      local s = formats.decode(f, xs[i]) + formats.decode(f, ys[i])
      want[i] = s ~= s and 0x7f or s ~= 0 and by_value[round(s)] -- the sign of a zero is another matter
      if s == s and s ~= 0 and round(s) == 0 then want[i] = false end
    end
    local z = gpu.zeros({ #xs }, dtype)
    gpu.kernels(filled(DIRECTED, { T = dtype, mode = mode }), "directed").f(z:tiles { 256 }, x, y):sync()
    local is_right, wrong = h.compare(dtype, z:to_bytes(), want, 0)
    h.check(is_right, "sums of %s, %s: %s", dtype, mode, wrong)
  end
end

-- Halves go to the even number; what is beyond the integers saturates.
local function check_nearest(h)
  local k = gpu.kernels([[
    #[tile] fn f<const B: i32>(z: &mut Tensor<i32, {[B]}>, x: &Tensor<f32, {[-1]}>) { z.store(ftoi(x.load_like(z), rounding::NearestEven)); }
  ]], "nearest").f
  local z = gpu.zeros({ 12 }, "i32")
  k(z:tiles { 8 }, gpu.from_table { 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 2.4999998, 8388609, -1e20, 1e20, 0.49999997, -3.7 }):sync()
  local want = { 0, 2, 2, 0, -2, -2, 2, 8388609, -2147483648, 2147483647, 0, -4 }
  for i, v in ipairs(want) do h.check(z[i] == v, "the nearest integer %d is %d, expected %d", i, z[i], v) end
end

-- 64-bit integers as floats, where a double does not hold them either.
local function check_itof(h)
  local text = "#[tile] fn f<const B: i32>(z: &mut Tensor<$R, {[B]}>, x: &Tensor<i64, {[-1]}>) { z.store(itof(x.load_like(z), rounding::$mode)); }"
  local most = math.maxinteger
  local x = gpu.from_table({ most, -most, (1 << 53) + 1, -(1 << 53) - 1, (1 << 62) + 1, 7, 0, 16777217 }, "i64")
  local WANT = {
    PositiveInf = { f64 = { 2.0 ^ 63, -(2.0 ^ 63 - 1024), 2.0 ^ 53 + 2, -2.0 ^ 53, 2.0 ^ 62 + 1024, 7, 0, 16777217 },
      f32 = { 2.0 ^ 63, -(2.0 ^ 63 - 2.0 ^ 39), 2.0 ^ 53 + 2.0 ^ 30, -2.0 ^ 53, 2.0 ^ 62 + 2.0 ^ 39, 7, 0, 16777218 } },
    Zero = { f64 = { 2.0 ^ 63 - 1024, -(2.0 ^ 63 - 1024), 2.0 ^ 53, -2.0 ^ 53, 2.0 ^ 62, 7, 0, 16777217 },
      f32 = { 2.0 ^ 63 - 2.0 ^ 39, -(2.0 ^ 63 - 2.0 ^ 39), 2.0 ^ 53, -2.0 ^ 53, 2.0 ^ 62, 7, 0, 16777216 } },
  }
  for mode, types in pairs(WANT) do
    for dtype, want in pairs(types) do
      local z = gpu.zeros({ 8 }, dtype)
      gpu.kernels(filled(text, { R = dtype, mode = mode }), "itof").f(z:tiles { 8 }, x):sync()
      for i, v in ipairs(want) do h.check(z[i] == v, "itof to %s, %s, %d: %a, expected %a", dtype, mode, i, z[i], v) end
    end
  end
end

-- With ftz::Enabled operands and results of f32 below 2^-126 are zeros of their sign.
local FLUSHED = {
  { "addf(a, b, rounding::NearestEven, $)", { 0x1p-127, 0x1p-126, -0x1p-126 }, { 0x1p-127, 0x1p-127, 0x1.8p-126 }, { 0.0, 0x1p-126, 0.0 } },
  { "mulf(a, b, rounding::NearestEven, $)", { 0x1p-127, 0x1p-126, -0x1p-100 }, { 0x1p10, 0.5, 0x1p-27 }, { 0.0, 0.0, -0.0 } },
  { "divf(a, b, rounding::PositiveInf, $)", { 0x1p-127, 0x1p-126, 3 }, { 0x1p-10, 2, 0x1p-3 }, { 0.0, 0.0, 24 } },
  { "maxf(a, b, nan::Disabled, $)", { 0x1p-127, -0x1p-127, 1 }, { -1, -1, 0x1p-127 }, { 0.0, -0.0, 1 } },
  { "fma(a, b, a, rounding::NearestEven, $)", { 0x1p-127, 0x1p-126, 1 }, { 1, -0.5, 1 }, { 0.0, 0.0, 2 } },
  { "sqrt(a, rounding::NearestEven, $)", { 0x1p-127, 0x1p-126, 4 }, { 0, 0, 0 }, { 0.0, 0x1p-63, 2 } },
  { "rsqrt(a, $)", { 0x1p-127, 0x1p-126, 4 }, { 0, 0, 0 }, { math.huge, 0x1p63, 0.5 } },
  { "exp2(a, $)", { -127, -126, 4 }, { 0, 0, 0 }, { 0.0, 0x1p-126, 16 } },
}

local function check_ftz(h)
  for _, row in ipairs(FLUSHED) do
    local kept
    for _, mode in ipairs { "ftz::Disabled", "ftz::Enabled" } do
      local k = gpu.kernels(h.elementwise("tile", "f", (row[1]:gsub("%$", mode)), 2, "f32", "f32"), "ftz").f
      local z = gpu.zeros { 3 }
      k(z:tiles { 4 }, gpu.from_table(row[2]), gpu.from_table(row[3])):sync()
      if mode == "ftz::Disabled" then
        kept = z:to_bytes()
      else
        for i, v in ipairs(row[4]) do
          h.check(z[i] == v and 1 / z[i] == 1 / v, "%s of %a and %a is %a, expected %a", row[1], row[2][i], row[3][i], z[i], v)
        end
        h.mutant(kept == z:to_bytes(), row[1])
      end
    end
  end
end

return function(h)
  h.group("round.directed", check_directed)
  h.group("round.nearest", check_nearest)
  h.group("round.itof", check_itof)
  h.group("round.ftz", check_ftz)
end
