-- The largest error of each function that is not exact, in units in the last place, on every
-- device. docs/numerics.md is made from this table; specs judge by it.
-- f16, bf16, tf32 and the 8-bit formats are computed in f32 and rounded once: at most 1 ULP.
local bounds = { narrow = 1, f32 = {}, f64 = {}, narrower = {} }
for _, op in ipairs {
  "rsqrt", "exp", "exp2", "log", "ln", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh",
  "pow", "powf", "atan2",
} do
  bounds.f32[op], bounds.f64[op] = 2, 2
end

-- Within 2^-11 of the value, on a GPU; that is up to 2^13 units of f32, and one of f16 and tf32 beside their rounding.
bounds.f32.tanh_approx, bounds.f64.tanh_approx, bounds.narrower.tanh_approx = 8192, 2, 2

-- The product with log2 e is rounded to f32: off by 2^-17 where the power is largest.
bounds.f32.exp_approx, bounds.f64.exp_approx = 128, 2

-- libclc's device functions, which GPU kernels use where NVIDIA's libdevice is not installed, keep
-- these bounds but for what is named here.
bounds.libclc = {
  -- Computed in f32, results below 2^-126 may be 0.
  flushed = { rem = true },
  -- In f64, wrong where |y| is at least 2^62.
  exponent = { pow = true, powf = true },
}

local function is_flushed(f, want, got)
  local formats = require "formats"
  return math.abs(formats.decode(f, want)) < 2.0 ^ -126 and formats.decode(f, got) == 0
end

-- Which wrong results of an operation are the library's known ones: a function of the element,
-- the expected code and the one that was got. `exponents` are the codes of operand b.
function bounds.allowance(library, op, dtype, exponents)
  local formats = require "formats"
  local f = formats.of[dtype]
  if op == "exp_approx" and dtype == "f32" then
    return function(_, want, got) return formats.decode(f, want) < 2.0 ^ -126 * (1 + 2.0 ^ -15) and formats.decode(f, got) == 0 end
  end
  if not library or library:find("libdevice", 1, true) then return nil end
  if bounds.libclc.flushed[op] and dtype ~= "f64" then
    return function(_, want, got) return is_flushed(f, want, got) end
  end
  if bounds.libclc.exponent[op] and dtype == "f64" then
    return function(i) return math.abs(formats.decode(f, exponents[i])) >= 2.0 ^ 62 end
  end
end

function bounds.of(op, dtype)
  local row = bounds[dtype] or bounds.narrower
  return row[op] or bounds.narrow
end

return bounds
