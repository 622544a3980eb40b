-- The elementwise operations as kernels spell them: one row drives every spec of an operation.
--
--   op      the row of dsl/ir/op.def; name tells rows of one op apart
--   arity   operands a, b, c, all of one element type
--   tile    the expression on the tile track, over the tiles a, b, c; nil: not reachable there
--   simt    the expression on the SIMT track, over the numbers a, b, c; nil: not reachable there
--   mutant  {tile, simt}: the same with one operator changed; a spec that accepts it is no spec
--   result  element type of the result, when it is not the operands'
--   types   overrides gpu.ops()[op].dtypes; what others are told is then not asked, unless `bound` says
--   phrase  of an operator: what a type that is not taken is told, $T standing for the operand's type
--   bound   of a tile function: the trait that such a type has not; FloatElement unless said
--   other   {track = {dtype = true}}: a type that gets there another operation, or is told at launch
--   only    the one type that has the operation; with others the expression is `instead`
--   simt_op what the expression of the SIMT track is in IR, when it is not op
--   refuse  {track = {dtype = true}}: not taken on that track
--   divisor b is nowhere zero for integers
--   reference  the function of arith.lua, when it is not op's
--   ulps    row of bounds.lua; nil: every bit counts
local NATIVE_ONLY = { tf32 = true, f8e4m3fn = true, f8e5m2 = true } -- methods of core's floats
local TOLD_AT_LAUNCH = { tile = { bool = true, f8e8m0fnu = true, f8e5m3fnu = true, f4e2m1fn = true } } -- spec/ui/lower/modes.rs
local UNSIGNED = { u64 = true, u32 = true, u16 = true, u8 = true }
local FLOATS = { "f64", "f32", "f16", "bf16", "tf32", "f8e4m3fn", "f8e5m2" }
local INTEGERS = { "i64", "i32", "i16", "i8", "i4", "u64", "u32", "u16", "u8" }
local BITS = { "i64", "i32", "i16", "i8", "i4", "u64", "u32", "u16", "u8", "bool" }

local rows = {}
local function row(r)
  r.name = r.name or r.op
  rows[#rows + 1] = r
end

local function operator(op, expression, mutant, phrase, more)
  local r = { op = op, arity = 2, tile = expression, simt = expression, mutant = { mutant, mutant }, phrase = phrase }
  for k, v in pairs(more or {}) do r[k] = v end
  row(r)
end

operator("add", "a + b", "a - b", "cannot add `$T` to `$T`")
operator("sub", "a - b", "a + b", "cannot subtract `$T` from `$T`")
operator("mul", "a * b", "a + b", "cannot multiply `$T` by `$T`")
operator("div", "a / b", "a * b", "cannot divide `$T` by `$T`", { divisor = true })
operator("rem", "a % b", "a / b", "cannot calculate the remainder of `$T` divided by `$T`", { divisor = true })
operator("and", "a & b", "a | b", "no implementation for `$T & $T`")
operator("or", "a | b", "a ^ b", "no implementation for `$T | $T`")
operator("xor", "a ^ b", "a | b", "no implementation for `$T ^ $T`")
operator("shl", "a << b", "a >> b", "no implementation for `$T << $T`")
operator("shr", "a >> b", "a << b", "no implementation for `$T >> $T`")
operator("neg", "-a", "a", "cannot apply unary operator `-` to type `$T`", { arity = 1, refuse = { tile = UNSIGNED, simt = UNSIGNED } })
operator("not", "!a", "a", "cannot apply unary operator `!` to type `$T`", { arity = 1 })

row { op = "min", arity = 2, tile = "min_tile(a, b)", simt = "a.min(b)", mutant = { "max_tile(a, b)", "a.max(b)" },
  refuse = { simt = NATIVE_ONLY }, other = TOLD_AT_LAUNCH }
row { op = "max", arity = 2, tile = "max_tile(a, b)", simt = "a.max(b)", mutant = { "min_tile(a, b)", "a.min(b)" },
  refuse = { simt = NATIVE_ONLY }, other = TOLD_AT_LAUNCH }
row { op = "and", name = "min.bool", reference = "min", arity = 2, types = { "bool" }, tile = "min_tile(a, b)",
  mutant = { "max_tile(a, b)" } }
row { op = "or", name = "max.bool", reference = "max", arity = 2, types = { "bool" }, tile = "max_tile(a, b)",
  mutant = { "min_tile(a, b)" } }
row { op = "fma", arity = 3, tile = "fma(a, b, c)", simt = "a.mul_add(b, c)",
  mutant = { "a * b - c", "a * b - c" }, refuse = { simt = NATIVE_ONLY } }
-- The rounding of a product that a sum takes is decided in the IR, for every backend.
row { op = "fma", name = "fma.contracted", arity = 3, types = FLOATS, tile = "a * b + c", simt = "a * b + c",
  mutant = { "a * b - c", "a * b - c" } }
row { op = "abs", arity = 1, simt = "a.abs()", mutant = { nil, "a + a" }, refuse = { simt = NATIVE_ONLY } }
for _, method in ipairs { "add", "sub", "mul" } do
  local other = method == "sub" and "add" or "sub"
  row { op = method, name = method .. ".wrapping", arity = 2, simt = ("a.wrapping_%s(b)"):format(method),
    mutant = { nil, ("a.wrapping_%s(b)"):format(other) },
    types = INTEGERS }
end

local PREDICATES = { eq = "==", ne = "!=", lt = "<", le = "<=", gt = ">", ge = ">=" }
local OPPOSITE = { eq = "ne", ne = "eq", lt = "ge", le = "gt", gt = "le", ge = "lt" }
for _, p in ipairs { "eq", "ne", "lt", "le", "gt", "ge" } do
  row { op = "cmp", name = "cmp." .. p, pred = p, arity = 2, result = "bool",
    tile = p .. "_tile(a, b)", simt = ("a %s b"):format(PREDICATES[p]),
    mutant = { OPPOSITE[p] .. "_tile(a, b)", ("a %s b"):format(PREDICATES[OPPOSITE[p]]) } }
end
row { op = "select", pred = "lt", arity = 2, tile = "select(lt_tile(a, b), a, b)",
  simt = "if a < b { a } else { b }", simt_op = "if",
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
-- Of other types than f32 ftz changes nothing.
row { op = "exp2_flush", arity = 1, ulps = "exp2", tile = "exp2(a, ftz::Enabled)", mutant = { "exp2(-a, ftz::Enabled)" },
  only = "f32", instead = "exp2" }
row { op = "tanh_approx", arity = 1, ulps = "tanh_approx", tile = "tanh(a, rounding::Approx)",
  mutant = { "tanh(-a, rounding::Approx)" } }
row { op = "exp2_flush", name = "exp.approx", reference = "exp_approx", arity = 1, ulps = "exp_approx",
  tile = "exp(a, rounding::Approx)", mutant = { "exp(-a, rounding::Approx)" }, only = "f32", instead = "exp" }
row { op = "tanh", name = "tanh.full", arity = 1, ulps = "tanh", tile = "tanh(a, rounding::Full)", mutant = { "sinh(a)" } }
row { op = "pow", arity = 2, ulps = "pow", tile = "pow(a, b)", mutant = { "pow(b, a)" } }
row { op = "powf", arity = 2, ulps = "powf", simt = "a.powf(b)", mutant = { nil, "b.powf(a)" },
  refuse = { simt = NATIVE_ONLY } }
row { op = "atan2", arity = 2, ulps = "atan2", tile = "atan2(a, b)", simt = "a.atan2(b)",
  mutant = { "atan2(b, a)", "b.atan2(a)" }, refuse = { simt = NATIVE_ONLY } }


-- Functions of cutile::core that name an operation of one class, with modes that change nothing.
local function named(name, op, arity, class, modes, mutant, more)
  local args = table.concat({ "a", "b", "c" }, ", ", 1, arity)
  local r = { op = op, name = name, arity = arity, types = class, bound = class == FLOATS and "FloatElement" or class == INTEGERS and "IntElement" or "BitsElement",
    tile = ("%s(%s%s)"):format(name, args, modes), mutant = { mutant } }
  for k, v in pairs(more or {}) do r[k] = v end
  row(r)
end
local NEAREST, KEPT = ", rounding::NearestEven, ftz::Disabled", ", overflow::None"
named("addf", "add", 2, FLOATS, NEAREST, "a - b")
named("subf", "sub", 2, FLOATS, NEAREST, "a + b")
named("mulf", "mul", 2, FLOATS, NEAREST, "a + b")
named("divf", "div", 2, FLOATS, NEAREST, "a * b")
named("remf", "rem", 2, FLOATS, "", "a / b")
named("negf", "neg", 1, FLOATS, "", "a")
named("absf", "abs", 1, FLOATS, "", "-a")
named("minf", "min", 2, FLOATS, ", nan::Disabled, ftz::Disabled", "max_tile(a, b)")
named("maxf", "max", 2, FLOATS, ", nan::Disabled, ftz::Disabled", "min_tile(a, b)")
named("fma", "fma", 3, FLOATS, NEAREST, "a * b - c", { name = "fma.modes" })
named("addi", "add", 2, INTEGERS, KEPT, "a - b")
named("subi", "sub", 2, INTEGERS, KEPT, "a + b")
named("muli", "mul", 2, INTEGERS, KEPT, "a + b")
named("divi", "div", 2, INTEGERS, ", rounding::Zero", "a * b", { divisor = true })
named("remi", "rem", 2, INTEGERS, "", "a / b", { divisor = true })
named("negi", "neg", 1, INTEGERS, KEPT, "a")
named("absi", "abs", 1, INTEGERS, "", "negi(a, overflow::None)")
named("mini", "min", 2, INTEGERS, "", "max_tile(a, b)")
named("maxi", "max", 2, INTEGERS, "", "min_tile(a, b)")
named("shli", "shl", 2, INTEGERS, KEPT, "a >> b")
named("shri", "shr", 2, INTEGERS, "", "a << b")
named("andi", "and", 2, BITS, "", "a | b")
named("ori", "or", 2, BITS, "", "a & b")
named("xori", "xor", 2, BITS, "", "a | b")
named("noti", "not", 1, BITS, "", "a")

-- What a type that the row does not take is told: code and message.
function rows.refusal(r, track, dtype)
  if r.phrase then
    local operand = track == "tile" and ("Tile<%s, {[B]}>"):format(dtype) or dtype
    return r.arity == 1 and "E0600" or "E0369", (r.phrase:gsub("%$T", operand))
  elseif track == "tile" then
    return "E0277", ("the trait bound `%s: %s` is not satisfied"):format(dtype, r.bound or "FloatElement")
  end
  return "E0599", ("no method named `%s` found for type `%s` in the current scope"):format(r[track]:match "^a%.([%w_]+)%(", dtype)
end

return rows
