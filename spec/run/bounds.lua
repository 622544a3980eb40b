-- The largest error of each function that is not exact, in units in the last place, on every
-- device. docs/numerics.md is made from this table; specs judge by it.
-- f16, bf16, tf32 and the 8-bit formats are computed in f32 and rounded once: at most 1 ULP.
local bounds = { narrow = 1, f32 = {}, f64 = {} }
for _, op in ipairs {
  "rsqrt", "exp", "exp2", "log", "ln", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh",
  "pow", "powf", "atan2",
} do
  bounds.f32[op], bounds.f64[op] = 2, 2
end

function bounds.of(op, dtype)
  local row = bounds[dtype]
  return row and row[op] or bounds.narrow
end

return bounds
