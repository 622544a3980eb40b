-- The elementwise operations as kernels spell them: one row drives every spec of an operation.
--
--   op      the row of dsl/ir/op.def; name tells rows of one op apart
--   arity   operands a, b, c, all of one element type
--   tile    the expression on the tile track, over the tiles a, b, c; nil: not reachable there
--   simt    the expression on the SIMT track, over the numbers a, b, c; nil: not reachable there
--   mutant  {tile, simt}: the same with one operator changed; a spec that accepts it is no spec
--   result  element type of the result, when it is not the operands'
--   types   overrides gpu.ops()[op].dtypes
--   refuse  {track = {dtype = code}}: refused by that diagnostic instead
--   divisor b is nowhere zero for integers
--   reference  the function of arith.lua, when it is not op's
--   ulps    row of bounds.lua; nil: every bit counts
local NATIVE_ONLY = { tf32 = "E0599", f8e4m3fn = "E0599", f8e5m2 = "E0599" } -- methods of core's floats
local UNSIGNED = { u64 = "E0600", u32 = "E0600", u16 = "E0600", u8 = "E0600" }

local rows = {}
local function row(r)
  r.name = r.name or r.op
  rows[#rows + 1] = r
end

local function operator(op, expression, mutant, more)
  local r = { op = op, arity = 2, tile = expression, simt = expression, mutant = { mutant, mutant } }
  for k, v in pairs(more or {}) do r[k] = v end
  row(r)
end

operator("add", "a + b", "a - b")
operator("sub", "a - b", "a + b")
operator("mul", "a * b", "a + b")
operator("div", "a / b", "a * b", { divisor = true })
operator("rem", "a % b", "a / b", { divisor = true })
operator("and", "a & b", "a | b")
operator("or", "a | b", "a ^ b")
operator("xor", "a ^ b", "a | b")
operator("shl", "a << b", "a >> b")
operator("shr", "a >> b", "a << b")
operator("neg", "-a", "a", { arity = 1, refuse = { tile = UNSIGNED, simt = UNSIGNED } })
operator("not", "!a", "a", { arity = 1 })

row { op = "min", arity = 2, tile = "min_tile(a, b)", simt = "a.min(b)", mutant = { "max_tile(a, b)", "a.max(b)" },
  refuse = { simt = NATIVE_ONLY } }
row { op = "max", arity = 2, tile = "max_tile(a, b)", simt = "a.max(b)", mutant = { "min_tile(a, b)", "a.min(b)" },
  refuse = { simt = NATIVE_ONLY } }
row { op = "and", name = "min.bool", reference = "min", arity = 2, types = { "bool" }, tile = "min_tile(a, b)",
  mutant = { "max_tile(a, b)" } }
row { op = "or", name = "max.bool", reference = "max", arity = 2, types = { "bool" }, tile = "max_tile(a, b)",
  mutant = { "min_tile(a, b)" } }
row { op = "fma", arity = 3, tile = "fma(a, b, c)", simt = "a.mul_add(b, c)",
  mutant = { "a * b - c", "a * b - c" }, refuse = { simt = NATIVE_ONLY } }
-- The rounding of a product that a sum takes is decided in the IR, for every backend.
row { op = "fma", name = "fma.contracted", arity = 3, tile = "a * b + c", simt = "a * b + c",
  mutant = { "a * b - c", "a * b - c" } }
row { op = "abs", arity = 1, simt = "a.abs()", mutant = { nil, "-(-a)" }, refuse = { simt = NATIVE_ONLY },
  types = { "f64", "f32", "f16", "bf16", "tf32", "f8e4m3fn", "f8e5m2", "i64", "i32", "i16", "i8" } }
for _, method in ipairs { "add", "sub", "mul" } do
  local other = method == "sub" and "add" or "sub"
  row { op = method, name = method .. ".wrapping", arity = 2, simt = ("a.wrapping_%s(b)"):format(method),
    mutant = { nil, ("a.wrapping_%s(b)"):format(other) },
    types = { "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8" } }
end

local PREDICATES = { eq = "==", ne = "!=", lt = "<", le = "<=", gt = ">", ge = ">=" }
local OPPOSITE = { eq = "ne", ne = "eq", lt = "ge", le = "gt", gt = "le", ge = "lt" }
for _, p in ipairs { "eq", "ne", "lt", "le", "gt", "ge" } do
  row { op = "cmp", name = "cmp." .. p, pred = p, arity = 2, result = "bool",
    tile = p .. "_tile(a, b)", simt = ("a %s b"):format(PREDICATES[p]),
    mutant = { OPPOSITE[p] .. "_tile(a, b)", ("a %s b"):format(PREDICATES[OPPOSITE[p]]) } }
end
row { op = "select", pred = "lt", arity = 2, tile = "select(lt_tile(a, b), a, b)",
  simt = "if a < b { a } else { b }",
  mutant = { "select(gt_tile(a, b), a, b)", "if a > b { a } else { b }" } }

for float, int in pairs { f64 = "u64", f32 = "u32", f16 = "u16", bf16 = "u16" } do
  row { op = "bitcast", name = "bitcast." .. float .. ".to_bits", arity = 1, types = { float }, result = int,
    simt = "a.to_bits()", mutant = { nil, "!a.to_bits()" } }
  row { op = "bitcast", name = "bitcast." .. float .. ".from_bits", arity = 1, types = { int }, result = float,
    simt = float .. "::from_bits(a)", mutant = { nil, float .. "::from_bits(!a)" } }
end

-- Functions of one float: reached by a tile function, by a method, or both.
local function func(op, surface, mutant, ulps)
  row { op = op, arity = 1, ulps = ulps and op,
    tile = surface ~= "method" and op .. "(a)" or nil,
    simt = surface ~= "tile" and ("a.%s()"):format(op) or nil,
    mutant = { surface ~= "method" and mutant .. "(a)" or nil, surface ~= "tile" and ("a.%s()"):format(mutant) or nil },
    refuse = { simt = NATIVE_ONLY } }
end
func("sqrt", "both", "rsqrt")
func("floor", "both", "ceil")
func("ceil", "both", "floor")
func("trunc", "method", "round")
func("round", "method", "trunc")
func("rsqrt", "both", "sqrt", true)
func("exp", "both", "exp2", true)
func("exp2", "both", "exp", true)
func("log", "tile", "log2", true)
func("ln", "method", "log2", true)
func("log2", "both", "exp2", true)
func("log10", "method", "log2", true)
func("sin", "both", "cos", true)
func("cos", "both", "sin", true)
func("tan", "both", "sin", true)
func("sinh", "both", "cosh", true)
func("cosh", "both", "sinh", true)
func("tanh", "both", "sinh", true)
row { op = "pow", arity = 2, ulps = "pow", tile = "pow(a, b)", mutant = { "pow(b, a)" } }
row { op = "powf", arity = 2, ulps = "powf", simt = "a.powf(b)", mutant = { nil, "b.powf(a)" },
  refuse = { simt = NATIVE_ONLY } }
row { op = "atan2", arity = 2, ulps = "atan2", tile = "atan2(a, b)", simt = "a.atan2(b)",
  mutant = { "atan2(b, a)", "b.atan2(a)" }, refuse = { simt = NATIVE_ONLY } }

return rows
