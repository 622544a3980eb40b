-- The value of every elementwise operation in plain Lua. Floats are computed in double and
-- rounded once to the format; + - * / and sqrt of a format with at most 25 bits are exact that way
-- (Figueroa, "When is double rounding innocuous?", 1995), fma by rounding to odd first (Boldo and
-- Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
local formats = require "formats"

local arith = {}

local INF = math.huge
local function is_nan(v) return v ~= v end
local function is_finite(v) return v - v == 0 end
local function is_negative(v) return v < 0 or v == 0 and 1 / v < 0 end

-- ---- Fused multiply and add ------------------------------------------------------------------

local function two_sum(a, b)
  local s = a + b
  local t = s - a
  return s, (a - (s - t)) + (b - t)
end

local function split(a)
  local c = 134217729.0 * a
  local high = c - (c - a)
  return high, a - high
end

local function two_product(a, b)
  local p = a * b
  local ah, al = split(a)
  local bh, bl = split(b)
  return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl
end

-- a + b rounded to odd.
local function odd_sum(a, b)
  local s, e = two_sum(a, b)
  if e == 0 or not is_finite(s) then return s end
  local bits = string.unpack("<i8", string.pack("<d", s))
  if bits & 1 == 1 then return s end
  -- One place towards the error: away from zero when the signs agree.
  bits = bits + ((e > 0) == (s > 0) and 1 or -1)
  return (string.unpack("<d", string.pack("<i8", bits)))
end

local function is_moderate(v) return v == 0 or math.abs(v) < 2.0 ^ 300 and math.abs(v) > 2.0 ^ -300 end

-- nil where this method does not reach: f64 near the ends of its range. A format narrower than
-- f32 is computed in f32: one rounding to f32 and one to the format.
local function fma(f, x, y, z)
  if is_finite(x) and is_finite(y) and not is_finite(z) then return z end
  if not (is_finite(x) and is_finite(y)) then return x * y + z end
  if f.mantissa < 52 then
    local p = x * y -- exact: at most 48 bits
    if p == 0 or z == 0 then return p + z end
    local sum = odd_sum(p, z)
    return f.mantissa < 23 and formats.round(formats.of.f32, sum) or sum
  end
  if not (is_moderate(x) and is_moderate(y) and is_moderate(z) and is_moderate(x * y)) then return nil end
  if x == 0 or y == 0 or z == 0 then return x * y + z end
  local uh, ul = two_product(x, y)
  local th, tl = two_sum(z, ul)
  local vh, vl = two_sum(uh, th)
  return vh + odd_sum(tl, vl)
end

-- ---- Elementary functions, in double: for formats narrower than f32 ----------------------------

local function sinh(x)
  if math.abs(x) < 1e-4 then return x + x * x * x / 6 end
  return (math.exp(x) - math.exp(-x)) / 2
end
local function cosh(x) return (math.exp(x) + math.exp(-x)) / 2 end
local function tanh(x)
  if math.abs(x) > 20 then return x > 0 and 1.0 or -1.0 end
  return is_nan(x) and x or sinh(x) / cosh(x)
end
local function rsqrt(x) return 1 / math.sqrt(x) end
-- C's pow: 1 where the base is 1 or the exponent 0, NaN or not.
local function pow(x, y) return x ^ y end

-- ---- Rounding to integers ----------------------------------------------------------------------

local function keep_sign(v, x) return v == 0 and (is_negative(x) and -0.0 or 0.0) or v + 0.0 end
local function integral(step)
  return function(x)
    if not is_finite(x) or math.abs(x) >= 2.0 ^ 52 then return x end
    return keep_sign(step(x), x)
  end
end
local floor, ceil = integral(math.floor), integral(math.ceil)
local function trunc(x) return is_negative(x) and ceil(x) or floor(x) end
local round = integral(function(x)
  local low = math.floor(math.abs(x))
  if math.abs(x) - low >= 0.5 then low = low + 1 end
  return x < 0 and -low or low
end)

-- ---- By operation and class ----------------------------------------------------------------------

local function min(x, y)
  if is_nan(x) or is_nan(y) then return is_nan(x) and y or x end
  if x == y then return is_negative(x) and x or y end
  return x < y and x or y
end
local function max(x, y)
  if is_nan(x) or is_nan(y) then return is_nan(x) and y or x end
  if x == y then return is_negative(x) and y or x end
  return x > y and x or y
end
local function fmod(x, y)
  if is_nan(x) or is_nan(y) or not is_finite(x) or y == 0 then return 0 / 0 end
  if not is_finite(y) then return x end
  return keep_sign(math.fmod(x, y), x)
end

-- (format, x, y, z) -> value, nil where no value is known.
arith.float = {
  add = function(_, x, y) return x + y end,
  sub = function(_, x, y) return x - y end,
  mul = function(_, x, y) return x * y end,
  div = function(_, x, y) return x / y end,
  rem = function(_, x, y) return fmod(x, y) end,
  neg = function(_, x) return -x end,
  abs = function(_, x) return math.abs(x) end,
  min = function(_, x, y) return min(x, y) end,
  max = function(_, x, y) return max(x, y) end,
  fma = fma,
  sqrt = function(_, x) return math.sqrt(x) end,
  floor = function(_, x) return floor(x) end,
  ceil = function(_, x) return ceil(x) end,
  trunc = function(_, x) return trunc(x) end,
  round = function(_, x) return round(x) end,
  rsqrt = function(_, x) return rsqrt(x) end,
  exp = function(_, x) return math.exp(x) end,
  exp2 = function(_, x) return 2.0 ^ x end,
  exp2_flush = function(f, x) return f.name == "f32" and x < -126 and 0.0 or 2.0 ^ x end,
  -- Near 2^-126 it is that or 0.
  exp_approx = function(f, x)
    if f.name ~= "f32" then return math.exp(x) end
    if math.abs(x + 87.336545) < 1e-4 then return nil end
    return x < -87.336545 and 0.0 or math.exp(x)
  end,
  log = function(_, x) return math.log(x) end,
  ln = function(_, x) return math.log(x) end,
  log2 = function(_, x) return math.log(x, 2) end,
  log10 = function(_, x) return math.log(x, 10) end,
  sin = function(_, x) return math.sin(x) end,
  cos = function(_, x) return math.cos(x) end,
  tan = function(_, x) return math.tan(x) end,
  sinh = function(_, x) return sinh(x) end,
  cosh = function(_, x) return cosh(x) end,
  tanh = function(_, x) return tanh(x) end,
  tanh_approx = function(_, x) return tanh(x) end,
  pow = function(_, x, y) return pow(x, y) end,
  powf = function(_, x, y) return pow(x, y) end,
  atan2 = function(_, y, x) return math.atan(y, x) end,
}

local function is_signed(f) return f.class == "int" end

local function truncated_div(f, x, y)
  if not is_signed(f) then
    if y < 0 then return math.ult(x, y) and 0 or 1 end -- u64 with its top bit set
    if x >= 0 then return x // y end
    local q = ((x >> 1) // y) << 1
    return math.ult(x - q * y, y) and q or q + 1
  end
  if y == -1 then return -x end
  local q = x // y
  return (q < 0 and q * y ~= x) and q + 1 or q
end

local function shift_right(f, x, count)
  if not is_signed(f) or x >= 0 then return x >> count end
  return ~(~x >> count)
end

-- Wrapped to the type by the caller.
arith.integer = {
  add = function(_, x, y) return x + y end,
  sub = function(_, x, y) return x - y end,
  mul = function(_, x, y) return x * y end,
  div = truncated_div,
  rem = function(f, x, y) return x - truncated_div(f, x, y) * y end,
  neg = function(_, x) return -x end,
  abs = function(f, x) return is_signed(f) and x < 0 and -x or x end,
  min = function(f, x, y) return formats.less(f, y, x) and y or x end,
  max = function(f, x, y) return formats.less(f, x, y) and y or x end,
  ["and"] = function(_, x, y) return x & y end,
  ["or"] = function(_, x, y) return x | y end,
  xor = function(_, x, y) return x ~ y end,
  ["not"] = function(_, x) return ~x end,
  shl = function(f, x, y) return x << (y & (f.bits - 1)) end,
  shr = function(f, x, y) return shift_right(f, x, y & (f.bits - 1)) end,
}

arith.bool = {
  min = function(_, x, y) return x & y end,
  max = function(_, x, y) return x | y end,
  ["and"] = function(_, x, y) return x & y end,
  ["or"] = function(_, x, y) return x | y end,
  xor = function(_, x, y) return x ~ y end,
  ["not"] = function(_, x) return 1 - x end,
}

local compare = {
  eq = function(less, greater) return not less and not greater end,
  ne = function(less, greater) return less or greater end,
  lt = function(less) return less end,
  le = function(_, greater) return not greater end,
  gt = function(_, greater) return greater end,
  ge = function(less) return not less end,
}

local function cmp(f, pred, x, y)
  if f.class == "float" and (is_nan(x) or is_nan(y)) then return pred == "ne" and 1 or 0 end
  return compare[pred](formats.less(f, x, y), formats.less(f, y, x)) and 1 or 0
end

-- The code of an operation's result for operands of format f, given as codes; nil where unknown.
function arith.result(op, pred, f, to, a, b, c)
  local x = formats.decode(f, a)
  local y, z = b and formats.decode(f, b), c and formats.decode(f, c)
  if op == "cmp" then return cmp(f, pred, x, y) end
  if op == "select" then return cmp(f, pred, x, y) == 1 and a or b end
  if op == "cast" then return formats.encode(to, formats.cast(f, x, to)) end
  if op == "bitcast" then return a end
  if f.class == "float" then
    local v = arith.float[op](f, x, y, z)
    return v and formats.encode(f, v)
  end
  if f.class == "bool" then return arith.bool[op](f, x, y) end
  return formats.encode(f, formats.wrap(f, arith.integer[op](f, x, y)))
end

assert(INF == 1 / 0)
return arith
