-- The element types in plain Lua: storage form, rounding, conversions, distance in ULP. Written
-- from the formats' definitions and from nothing of the compiler's, which it judges.
--
-- A float's value is a Lua float. An integer's value is a Lua integer: sign-extended for signed
-- types, zero-extended for unsigned ones, with u64 in two's complement. A bool's is 0 or 1.
local formats = {}

-- mantissa and exponent bits; `finite`: no infinity, conversions saturate, all ones is NaN;
-- `whole`: no NaN either; `unsigned`: what is negative is NaN; `power`: the exponent is all there is; `code`: it has no arithmetic.
local function float(size, exponent, mantissa, options)
  local f = { class = "float", size = size, exponent = exponent, mantissa = mantissa, bits = size * 8 }
  for k, v in pairs(options or {}) do f[k] = v end
  return f
end

local function integer(class, size, bits)
  return { class = class, size = size, bits = bits or size * 8 }
end

formats.list = {
  "f64", "f32", "f16", "bf16", "tf32", "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f8e5m3fnu", "f4e2m1fn",
  "i64", "i32", "i16", "i8", "i4", "u64", "u32", "u16", "u8", "bool",
}

local F = {
  f64 = float(8, 11, 52), f32 = float(4, 8, 23), f16 = float(2, 5, 10), bf16 = float(2, 8, 7),
  -- Kept as an f32 whose low 13 bits are zero.
  tf32 = float(4, 8, 10, { shift = 13 }),
  f8e4m3fn = float(1, 4, 3, { finite = true }), f8e5m2 = float(1, 5, 2),
  f8e8m0fnu = float(1, 8, 0, { finite = true, power = true, code = true }),
  f8e5m3fnu = float(1, 5, 3, { finite = true, code = true, unsigned = true }),
  f4e2m1fn = float(1, 2, 1, { finite = true, whole = true, code = true, bits = 4 }),
  i64 = integer("int", 8), i32 = integer("int", 4), i16 = integer("int", 2), i8 = integer("int", 1), i4 = integer("int", 1, 4),
  u64 = integer("uint", 8), u32 = integer("uint", 4), u16 = integer("uint", 2), u8 = integer("uint", 1),
  bool = integer("bool", 1),
}
for name, f in pairs(F) do
  f.name, f.pack = name, "<I" .. f.size
  f.native = name == "f64" and "<d" or name == "f32" and "<f" or nil
  if f.class == "float" then f.bias = (1 << (f.exponent - 1)) - 1 end
end
formats.of = F

local NAN, INF = 0 / 0, math.huge

function formats.is_nan(v) return v ~= v end

-- ---- Floats ------------------------------------------------------------------------------------

-- v * 2^e without an intermediate overflow or a second rounding for the exponents that occur.
local function scale(v, e)
  while e > 1000 do v, e = v * 2.0 ^ 1000, e - 1000 end
  while e < -1000 do v, e = v * 2.0 ^ -1000, e + 1000 end
  return v * 2.0 ^ e
end

-- The exponent e with 2^e <= |v| < 2^(e+1), for finite v other than 0.
local function exponent_of(v)
  local bits = string.unpack("<i8", string.pack("<d", v))
  local e = (bits >> 52) & 0x7ff
  if e ~= 0 then return e - 1023 end
  return exponent_of(v * 2.0 ^ 54) - 54
end

-- v to nearest, ties to even, as an integral float below 2^53.
local function round_even(v)
  local low = math.floor(v)
  local rest = v - low
  if rest > 0.5 or rest == 0.5 and low % 2 == 1 then return low + 1.0 end
  return low + 0.0
end

local function is_negative(v) return v < 0 or v == 0 and 1 / v < 0 end

-- Powers of two from 2^-127; halfway is the one of even code.
local function encode_power(v)
  if v ~= v or v < 0 then return 255 end
  if v == 0 then return 0 end
  if v == INF then return 254 end
  local e = exponent_of(v)
  local code, part = e + 127, scale(v, -e)
  if part > 1.5 or part == 1.5 and code % 2 == 1 then code = code + 1 end
  return math.max(0, math.min(code, 254))
end

-- The code of a float format for a double, rounded once.
local function encode_small(f, v)
  if f.power then return encode_power(v) end
  if f.unsigned then v = v < 0 and NAN or math.abs(v) end
  local sign = is_negative(v) and 1 << (f.exponent + f.mantissa) or 0
  local top = ((1 << f.exponent) - 1) << f.mantissa
  local limit = f.whole and top + (1 << f.mantissa) - 1 or f.finite and top + (1 << f.mantissa) - 2 or top
  if v ~= v and f.whole then return limit end
  if v ~= v then return f.finite and top + (1 << f.mantissa) - 1 or top + (1 << (f.mantissa - 1)) end
  v = math.abs(v)
  if v == 0 then return sign end
  if v == INF then return sign + limit end
  local e = math.max(exponent_of(v), 1 - f.bias)
  local kept = math.tointeger(round_even(scale(v, f.mantissa - e)))
  -- A normal number's leading one adds 1 to the exponent field; a carry does the same.
  local code = ((e + f.bias - 1) << f.mantissa) + kept
  return sign + math.min(code, limit)
end

local function decode_small(f, code)
  if f.power then return code == 255 and NAN or 2.0 ^ (code - 127) end
  local width = f.exponent + f.mantissa
  local sign = code >> width & 1 == 1 and -1.0 or 1.0
  local e, m = code >> f.mantissa & ((1 << f.exponent) - 1), code & ((1 << f.mantissa) - 1)
  if e == (1 << f.exponent) - 1 and not f.whole then
    if not f.finite then return m == 0 and sign * INF or NAN end
    if m == (1 << f.mantissa) - 1 then return NAN end
  end
  if e == 0 then return sign * scale(m + 0.0, 1 - f.bias - f.mantissa) end
  return sign * scale(m + (1 << f.mantissa) + 0.0, e - f.bias - f.mantissa)
end

-- ---- Storage -------------------------------------------------------------------------------------

local function mask(f) return f.bits == 64 and -1 or (1 << f.bits) - 1 end

-- An integer cut to the type's width and extended by its sign.
function formats.wrap(f, v)
  v = v & mask(f)
  if f.class == "int" and f.bits < 64 and v >> (f.bits - 1) == 1 then v = v - (1 << f.bits) end
  return v
end

-- The bits of a value, which is rounded to the format once.
function formats.encode(f, v)
  if f.native then return (string.unpack(f.pack, string.pack(f.native, v))) end
  if f.class == "float" then return encode_small(f, v) << (f.shift or 0) end
  return v & mask(f)
end

function formats.decode(f, bits)
  if f.native then return (string.unpack(f.native, string.pack(f.pack, bits))) end
  if f.class == "float" then return decode_small(f, bits >> (f.shift or 0)) end
  return formats.wrap(f, bits)
end

-- A float as the format holds it.
function formats.round(f, v) return formats.decode(f, formats.encode(f, v)) end

-- The bits of every value in a list, as the bytes of a tensor.
function formats.pack(f, codes)
  local parts, format = {}, f.pack
  for i = 1, #codes do parts[i] = string.pack(format, codes[i]) end
  return table.concat(parts)
end

function formats.code_at(f, bytes, i)
  return (string.unpack(f.pack, bytes, (i - 1) * f.size + 1))
end

-- Units in the last place between two codes of a float format: 0 when equal or both NaN.
function formats.ulps(f, a, b)
  local x, y = formats.decode(f, a), formats.decode(f, b)
  if x ~= x or y ~= y then return (x ~= x and y ~= y) and 0 or INF end
  if x == y then return 0 end -- +0 and -0: the caller asks for signs where they matter
  local shift = f.shift or 0
  local function position(code)
    local magnitude = code >> shift & (((1 << (f.exponent + f.mantissa)) - 1))
    return is_negative(formats.decode(f, code)) and -magnitude or magnitude
  end
  return math.abs(position(a) - position(b))
end

-- ---- Conversions -------------------------------------------------------------------------------

-- An unsigned 64-bit integer, or any other, as a float that rounds on to any narrower format as
-- the integer would: to odd where a double cannot hold it.
local function to_float(f, v, is_final)
  if f.class ~= "uint" or v >= 0 then
    local d = v + 0.0
    if is_final or math.abs(v) < 1 << 53 and v ~= math.mininteger then return d end
    local magnitude, sign = v, 1.0
    if v < 0 then magnitude, sign = -v, -1.0 end
    if magnitude == math.mininteger then return -2.0 ^ 63 end
    local shift = 0
    while magnitude >> shift >= 1 << 53 do shift = shift + 1 end
    local kept = magnitude >> shift
    if kept << shift ~= magnitude then kept = kept | 1 end
    return sign * scale(kept + 0.0, shift)
  end
  -- The top bit is set: 11 bits go, what they held sticks to the last one left. For a double,
  -- rounding to odd at 63 bits and then to nearest is exact.
  if is_final then return ((v >> 1) | (v & 1)) * 2.0 end
  local kept = v >> 11
  if kept << 11 ~= v then kept = kept | 1 end
  return (kept + 0.0) * 2048.0
end

local function saturate(f, v)
  local is_signed = f.class == "int"
  local largest = is_signed and (1 << (f.bits - 1)) - 1 or mask(f)
  local least = is_signed and -largest - 1 or 0
  local past = 2.0 ^ (f.bits - (is_signed and 1 or 0))
  if v ~= v then return 0 end
  if v >= past then return largest end
  if v <= (is_signed and -past or 0.0) then return least end
  v = v < 0 and math.ceil(v) or math.floor(v)
  if math.type(v) == "integer" then return v end
  return math.tointeger(v - 2.0 ^ 63) ~ math.mininteger -- u64, top bit set
end

-- As Rust's `as`.
function formats.cast(from, v, to)
  if from.class == "float" then
    if to.class == "float" then return formats.round(to, v) end
    if to.class == "bool" then return v ~= 0 and 1 or 0 end
    return saturate(to, v)
  end
  if to.class == "float" then return formats.round(to, to_float(from, v, to.mantissa >= 52)) end
  if to.class == "bool" then return v ~= 0 and 1 or 0 end
  return formats.wrap(to, v)
end

-- a < b for two integers of a type.
function formats.less(f, a, b)
  if f.class == "uint" then return math.ult(a, b) end
  return a < b
end

-- ---- Data ----------------------------------------------------------------------------------------

-- A splitmix64 generator: data of a spec follow from the seed that is printed.
function formats.random(seed)
  local state = seed
  return function()
    state = state + 0x9E3779B97F4A7C15
    local z = state
    z = (z ~ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ~ (z >> 27)) * 0x94D049BB133111EB
    return z ~ (z >> 31)
  end
end

local function add_float_specials(f, add)
  local sign = 1 << (f.bits - 1)
  for _, v in ipairs { 0.0, 1.0, 2.0, 0.5, 1.5, 2.5, 3.0, 448.0, INF, NAN, 1e-3, 100.0 } do
    local code = formats.encode(f, v)
    add(code)
    add(code | sign)
  end
  local shift, top = f.shift or 0, ((1 << f.exponent) - 1) << f.mantissa
  -- The least and the largest subnormal, the least normal and the two largest finite values.
  local largest = f.finite and top + (1 << f.mantissa) - 2 or top - 1
  for _, code in ipairs { 1, (1 << f.mantissa) - 1, 1 << f.mantissa, largest, largest - 1 } do
    add(code << shift)
    add(code << shift | sign)
  end
end

local function add_integer_specials(f, add)
  for _, v in ipairs { 0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 32767, 32768, 65535 } do
    add(formats.wrap(f, v) & mask(f))
    add(formats.wrap(f, -v) & mask(f))
  end
  local top = 1 << (f.bits - 1)
  for _, v in ipairs { top, top - 1, top + 1, -1, -2 } do add(v & mask(f)) end
end

-- A signaling NaN as a quiet one: the interpreter keeps values in double, which quiets them.
function formats.quiet(f, code)
  if f.class ~= "float" or f.finite then return code end
  local v = formats.decode(f, code)
  return v == v and code or code | 1 << (f.mantissa - 1 + (f.shift or 0))
end

-- A value of moderate size, so that sums and products stay finite in any format.
local function moderate(f, random)
  local unit = (random() >> 11) * 2.0 ^ -53
  local v = (unit * 4 + 0.01) * (random() & 1 == 0 and 1 or -1)
  return formats.encode(f, v)
end

-- `count` codes: specials spread over the first places, then moderate and wholly random ones.
function formats.data(f, count, seed)
  local random, codes, specials = formats.random(seed), {}, {}
  local function add(code) specials[#specials + 1] = code end
  if f.class == "bool" then
    for i = 1, count do codes[i] = random() >> 20 & 1 end
    return codes
  end
  if f.class == "float" then add_float_specials(f, add) else add_integer_specials(f, add) end
  local low = f.shift and ~((1 << f.shift) - 1) or -1
  for i = 1, count do
    local roll = random() >> 40 & 15
    if i > 3 and roll < 4 then
      codes[i] = specials[(random() >> 33) % #specials + 1]
    elseif f.class == "float" and roll < 11 then
      codes[i] = moderate(f, random)
    elseif f.class ~= "float" and roll < 9 then
      codes[i] = (random() >> 50) - 64 & mask(f)
    else
      codes[i] = random() & mask(f) & low
    end
    codes[i] = formats.quiet(f, codes[i])
  end
  return codes
end

return formats
