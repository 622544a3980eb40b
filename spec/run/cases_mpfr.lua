-- The elementary functions, and arithmetic rounded in a direction, against MPFR's correctly rounded
-- values (mpfr_vectors.c).
local gpu = require "gpulua"
local formats = require "formats"
local bounds = require "bounds"

-- How kernels spell each function; `exact`: correctly rounded everywhere.
local SPELLINGS = {
  sqrt = { { "sqrt", "tile", "sqrt(a)" }, { "sqrt", "simt", "a.sqrt()" }, exact = true },
  ln = { { "log", "tile", "log(a)" }, { "ln", "simt", "a.ln()" } },
  log10 = { { "log10", "simt", "a.log10()" } },
  pow = { { "pow", "tile", "pow(a, b)" }, { "powf", "simt", "a.powf(b)" } },
  atan2 = { { "atan2", "tile", "atan2(a, b)" }, { "atan2", "simt", "a.atan2(b)" } },
}
for _, name in ipairs { "rsqrt", "exp", "exp2", "log2", "sin", "cos", "tan", "sinh", "cosh", "tanh" } do
  SPELLINGS[name] = { { name, "tile", name .. "(a)" }, { name, "simt", ("a.%s()"):format(name) } }
end

table.insert(SPELLINGS.exp, { "exp_approx", "tile", "exp(a, rounding::Approx)" })
table.insert(SPELLINGS.tanh, { "tanh_approx", "tile", "tanh(a, rounding::Approx)" })

local MODES = { up = "PositiveInf", down = "NegativeInf", zero = "Zero" }
local NAMED = { add = "addf(a, b, $)", sub = "subf(a, b, $)", mul = "mulf(a, b, $)", div = "divf(a, b, $)", fma = "fma(a, b, c, $)", sqrt = "sqrt(a, $)" }
for mode, marker in pairs(MODES) do
  for name, text in pairs(NAMED) do
    local expression = text:gsub("%$", ("rounding::%s, ftz::Disabled"):format(marker))
    SPELLINGS[name .. "." .. mode] = { { name, "tile", expression }, exact = true, marker = marker }
  end
end
local HAS_METHODS = { f64 = true, f32 = true, f16 = true, bf16 = true }

local function tables(path)
  local file = assert(io.open(path, "rb"))
  return function()
    local line = file:read("l")
    if not line then
      file:close()
      return nil
    end
    local name, dtype, arity, count = line:match("^(%S+) (%S+) (%d+) (%d+)$")
    local f = formats.of[dtype]
    arity, count = math.tointeger(arity), math.tointeger(count)
    local columns = {}
    for k = 1, arity + 1 do columns[k] = {} end
    local bytes = file:read(count * (arity + 1) * f.size)
    for i = 0, count - 1 do
      for k = 1, arity + 1 do columns[k][i + 1] = formats.code_at(f, bytes, i * (arity + 1) + k) end
    end
    return { name = name, dtype = dtype, arity = arity, count = count, columns = columns }
  end
end

-- What the compiler does not know how to round is refused by name.
local function check_refused(h, t, kernel, operands)
  local ok, err = pcall(h.launch, "tile", kernel, operands, t.dtype, t.count)
  h.check(not ok and err.message == ("`fma` of `f64` with rounding::%s is not supported in kernels"):format(SPELLINGS[t.name].marker),
    "%s: %s", t.name, ok or tostring(err))
end

-- The spellings that the type has.
local function spellings_of(t)
  local list = {}
  for _, s in ipairs(SPELLINGS[t.name]) do
    if s[2] == "tile" or HAS_METHODS[t.dtype] then list[#list + 1] = s end
  end
  list.exact = SPELLINGS[t.name].exact
  return list
end

local function check(h, t)
  local f, spellings, text = formats.of[t.dtype], spellings_of(t), {}
  if #spellings == 0 then return end
  for _, s in ipairs(spellings) do
    text[#text + 1] = h.elementwise(s[2], s[1] .. "_" .. s[2], s[3], t.arity, t.dtype, t.dtype)
  end
  local module, expected, operands = gpu.kernels(table.concat(text), t.name), t.columns[t.arity + 1], {}
  for k = 1, t.arity do operands[k] = h.tensor(t.dtype, formats.pack(f, t.columns[k])) end
  if t.dtype == "f64" and t.name:find("^fma%.") then return check_refused(h, t, module.fma_tile, operands) end
  for _, s in ipairs(spellings) do
    local ulps = spellings.exact and 0 or bounds.of(s[1], t.dtype)
    local got = h.launch(s[2], module[s[1] .. "_" .. s[2]], operands, t.dtype, t.count)
    local is_right, wrong, worst = h.compare(t.dtype, got, expected, ulps, t.count,
      bounds.allowance(h.math, s[1], t.dtype, t.columns[2]))
    if not is_right then
      local at = math.tointeger(wrong:match("element (%d+)")) + 1
      local args = {}
      for k = 1, t.arity do args[k] = ("%.17g"):format(formats.decode(f, t.columns[k][at])) end
      wrong = ("of %s: %s, at most %g ULP"):format(table.concat(args, ", "), wrong, worst)
    end
    h.check(is_right, "%s %s %s %s", t.name, t.dtype, s[2], wrong)
    h.note_ulps(s[1] .. " " .. s[2], t.dtype, worst)
  end
  -- A value of another row, or of the row before, is noticed.
  local shifted = {}
  for i = 1, t.count do shifted[i] = expected[i % t.count + 1] end
  local s = spellings[1]
  h.mutant(h.compare(t.dtype, h.launch(s[2], module[s[1] .. "_" .. s[2]], operands, t.dtype, t.count), shifted, spellings.exact and 0 or 2), t.name)
end

return function(h)
  for t in tables(h.folder .. "/mpfr.bin") do
    h.group(("mpfr.%s.%s"):format(t.name, t.dtype), function() check(h, t) end)
  end
end
