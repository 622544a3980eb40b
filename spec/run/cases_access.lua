-- Accesses through tiles of pointers on every element type: gathers, scatters and atomic updates, in
-- every mode, ordering and scope.
local gpu = require "gpulua"
local formats = require "formats"
local arith = require "arith"
local matrix = require "matrix"

local function filled(text, words) return (text:gsub("%$(%w+)", words)) end

-- ---- Pointers --------------------------------------------------------------------------------------

local POINTERS = [[
  #[tile]
  unsafe fn f<const B: i32>(to: *mut $T, from: *mut $T, at: &Tensor<i32, {[-1]}>, n: i32) {
      let lane: Tile<i32, {[B]}> = iota(shape![B]) + program_id(0) * B;
      let mask = lt_tile(lane, n.broadcast(shape![B]));
      let places = at.load_tile(shape![B], [program_id(0)]);
      let p = pointer_to_tile(from).reshape(shape![1]).broadcast(shape![B]).offset_tile(places);
      let (t, token) = load_ptr_tko(p, ordering::$load, $lscope, Some(mask), Some($T::ONE), None, Latency::<0>);
      let q = pointer_to_tile(to).reshape(shape![1]).broadcast(shape![B]).offset_tile(lane);
      store_ptr_tko(q, t, ordering::$store, $sscope, Some(mask), Some(token), Latency::<0>);
  }
]]

local function check_pointers(h, dtype, load, lscope, store, sscope)
  local function scope(name) return name and ("Some(scope::%s)"):format(name) or "None::<scope::TileBlock>" end
  local text = filled(POINTERS, { T = dtype, load = load, lscope = scope(lscope), store = store, sscope = scope(sscope) })
  local f, n = formats.of[dtype], 109
  local codes, at, want = formats.data(f, n, h.seed_of("pointers", dtype)), {}, {}
  for i = 1, n do at[i] = i * 31 % n end
  for i = 1, n do want[i] = codes[at[i] + 1] end
  want[n + 1] = 0 -- what lies behind stays
  local z, k = gpu.zeros({ n + 1 }, dtype), gpu.kernels(text, "pointers").f:with { B = 64, grid = { 2 } }
  k(z, h.tensor(dtype, formats.pack(f, codes)), gpu.from_table(at, "i32"), n):sync()
  local is_right, wrong = h.compare(dtype, z:to_bytes(), want, 0)
  if h.check(is_right, "%s through pointers, %s and %s: %s", dtype, load, store, wrong) then
    matrix.compiled(h, k, dtype, "gather", "scatter")
  end
end

local SCOPES = { "TileBlock", "Device", "System" }

local function check_orderings(h)
  for _, scope in ipairs(SCOPES) do
    check_pointers(h, "i32", "Relaxed", scope, "Relaxed", scope)
    check_pointers(h, "i32", "Acquire", scope, "Release", scope)
  end
  for _, row in ipairs { { "Release", "Weak", "a load with ordering::Release" }, { "AcqRel", "Weak", "a load with ordering::AcqRel" },
    { "Weak", "Acquire", "a store with ordering::Acquire" }, { "Weak", "AcqRel", "a store with ordering::AcqRel" } } do
    local text = filled(POINTERS, { T = "i32", load = row[1], store = row[2], lscope = "None::<scope::Device>", sscope = "None::<scope::Device>" })
    local k, t = gpu.kernels(text, "pointers").f:with { B = 64, grid = { 2 } }, gpu.zeros({ 128 }, "i32")
    matrix.refused(h, "gather", "none", function() k(t, t, t, 0) end, "G0251", row[3] .. " is not supported in kernels")
  end
end

-- ---- Atomic updates --------------------------------------------------------------------------------

local UPDATE = [[
  #[tile]
  unsafe fn f<const B: i32>(bins: *mut $T, old: *mut $T, x: &Tensor<$T, {[-1]}>, n: i32) {
      let lane: Tile<i32, {[B]}> = iota(shape![B]) + program_id(0) * B;
      let mask = lt_tile(lane, n.broadcast(shape![B]));
      let p = pointer_to_tile(bins).reshape(shape![1]).broadcast(shape![B]).offset_tile(lane $spread);
      let t = x.load_tile(shape![B], [program_id(0)]);
      let (before, token) = $call;
      let q = pointer_to_tile(old).reshape(shape![1]).broadcast(shape![B]).offset_tile(lane);
      store_ptr_tko(q, before, ordering::Weak, None::<scope::TileBlock>, Some(mask), Some(token), Latency::<0>);
  }
]]
local RMW = "atomic_rmw_tko(p, t, atomic::$mode, ordering::$ordering, scope::$scope, Some(mask), None)"
local CAS = "atomic_cas_tko(p, constant($T::ONE, shape![B]), t, ordering::$ordering, scope::$scope, Some(mask), None)"

local function update_kernel(dtype, mode, ordering, scope, spread)
  local words = { T = dtype, mode = mode, ordering = ordering, scope = scope, spread = spread or "" }
  words.call = filled(mode and RMW or CAS, words)
  return gpu.kernels(filled(UPDATE, words), "update").f:with { B = 64, grid = { 2 } }
end

local function unsigned(f) return setmetatable({ class = "uint" }, { __index = f }) end

-- The new code of an element of format f.
local MODES = {
  Add = function(f, a, b) return arith.result("add", nil, f, f, a, b) end,
  AddF = function(f, a, b) return arith.result("add", nil, f, f, a, b) end,
  And = function(f, a, b) return arith.result("and", nil, f, f, a, b) end,
  Or = function(f, a, b) return arith.result("or", nil, f, f, a, b) end,
  Xor = function(f, a, b) return arith.result("xor", nil, f, f, a, b) end,
  Max = function(f, a, b) return arith.result("max", nil, f, f, a, b) end,
  Min = function(f, a, b) return arith.result("min", nil, f, f, a, b) end,
  Umax = function(f, a, b) f = unsigned(f) return arith.result("max", nil, f, f, a, b) end,
  Umin = function(f, a, b) f = unsigned(f) return arith.result("min", nil, f, f, a, b) end,
  Xchg = function(_, _, b) return b end,
}
local MODE_NAMES = { "Add", "AddF", "And", "Or", "Xor", "Max", "Min", "Umax", "Umin", "Xchg" }
local OF_FLOATS = { AddF = true, Xchg = true }

-- A GPU takes subnormal numbers for zeros in atomic sums of f32, and makes zeros of them (PTX, "atom").
local function is_flushed_sum(f, a, b, got)
  local function flush(code)
    local value = formats.decode(f, code)
    return math.abs(value) < 2.0 ^ -126 and formats.encode(f, 0.0 * value) or code
  end
  return flush(MODES.AddF(f, flush(a), flush(b))) == got
end

local function check_update(h, dtype, mode, ordering, scope)
  local f, n = formats.of[dtype], 109
  local k = update_kernel(dtype, mode, ordering, scope)
  local seed = h.seed_of("update", dtype, mode or "cas")
  local bins, x, want = formats.data(f, n, seed), formats.data(f, n, seed + 1), {}
  local one = formats.encode(f, f.class == "float" and 1.0 or 1)
  for i = 1, n do
    if not mode and i % 3 == 0 then bins[i] = one end
    if mode then want[i] = MODES[mode](f, bins[i], x[i]) else want[i] = bins[i] == one and x[i] or bins[i] end
  end
  local memory, old = h.tensor(dtype, formats.pack(f, bins)), gpu.zeros({ n }, dtype)
  k(memory, old, h.tensor(dtype, formats.pack(f, x)), n):sync()
  local what = ("atomic %s of %s, %s, %s"):format(mode or "swap", dtype, ordering, scope)
  local allowance
  if mode == "AddF" and dtype == "f32" and tostring(memory.device):find("^cuda") then
    allowance = function(i, _, got) return is_flushed_sum(f, bins[i], x[i], got) end
  end
  local is_right, wrong = h.compare(dtype, memory:to_bytes(), want, 0, nil, allowance)
  local is_old, other = h.compare(dtype, old:to_bytes(), bins, 0)
  h.check(is_old, "%s gives what was there: %s", what, other)
  if h.check(is_right, "%s: %s", what, wrong) then
    local is_unsigned = mode == "Umax" or mode == "Umin"
    if not is_unsigned then matrix.compiled(h, k, dtype, mode and "atomic_rmw" or "atomic_cas") end
  end
end

local function refuses_update(h, op, dtype, mode, ordering, message)
  local k, t = update_kernel(dtype, mode, ordering, "Device"), gpu.zeros({ 128 }, dtype)
  matrix.refused(h, op, dtype, function() k(t, t, t, 0) end, "G0251", message .. " is not supported in kernels")
end

local function check_atomics(h, dtype)
  local f = formats.of[dtype]
  if f.class == "bool" or f.bits < 16 or f.bits < 32 and f.class ~= "float" then
    refuses_update(h, "atomic_rmw", dtype, "Xchg", "Relaxed", ("an atomic update of `%s`"):format(dtype))
    return refuses_update(h, "atomic_cas", dtype, nil, "Relaxed", ("an atomic update of `%s`"):format(dtype))
  end
  check_update(h, dtype, nil, "Relaxed", "Device")
  for _, mode in ipairs(MODE_NAMES) do
    local is_taken = f.class == "float" and OF_FLOATS[mode] or f.class ~= "float" and mode ~= "AddF"
    if is_taken then
      check_update(h, dtype, mode, "Relaxed", "Device")
    else
      local why = f.class == "float" and ", where floats have only `AddF` and `Xchg`," or ""
      refuses_update(h, "atomic_rmw", dtype, mode, "Relaxed", ("atomic::%s of `%s`%s"):format(mode, dtype, why))
    end
  end
end

local function check_update_orderings(h)
  for _, scope in ipairs(SCOPES) do
    for _, ordering in ipairs { "Relaxed", "Acquire", "Release", "AcqRel" } do
      check_update(h, "i32", "Add", ordering, scope)
      check_update(h, "f32", "AddF", ordering, scope)
      check_update(h, "u64", nil, ordering, scope)
    end
  end
  refuses_update(h, "atomic_rmw", "i32", "Add", "Weak", "an update with ordering::Weak")
  refuses_update(h, "atomic_cas", "i32", nil, "Weak", "an update with ordering::Weak")
end

-- ---- Elements of the module itself -----------------------------------------------------------------

local GLOBAL = [[
  static N: Global<$T, {[]}> = Global::new($T::ONE);
  #[tile]
  fn f(z: &mut Tensor<$T, {[1]}>) {
      $body
  }
]]
local VISIT = [[
      let (old, _) = N.atomic_add(scalar_to_tile($T::ONE + $T::ONE), ordering::Relaxed, scope::Device);
      z.store(old.reshape(shape![1]));
]]
local HAS_GLOBALS = { i32 = true, u32 = true, i64 = true, u64 = true, f32 = true, f64 = true }

local function check_global(h, dtype)
  if not HAS_GLOBALS[dtype] then
    return matrix.refused(h, "global", dtype, filled(GLOBAL, { T = dtype, body = "" }), "E0277",
      ("the trait bound `%s: GlobalElement` is not satisfied"):format(dtype))
  end
  local k = gpu.kernels(filled(GLOBAL, { T = dtype, body = filled(VISIT, { T = dtype }) }), "global").f
  for _, want in ipairs { 1, 3, 5 } do
    local z = gpu.zeros({ 1 }, dtype)
    k(z:tiles { 1 }):sync()
    h.check(z[1] == want, "a global of %s is %s, expected %s", dtype, z[1], want)
  end
  matrix.compiled(h, k, dtype, "global")
end

return function(h)
  local function each(name, f)
    h.group("access." .. name, function() for _, dtype in ipairs(formats.list) do f(h, dtype) end end)
  end
  each("pointers", function(_, dtype) check_pointers(h, dtype, "Weak", nil, "Weak", nil) end)
  each("global", check_global)
  h.group("access.orderings", check_orderings)
  each("atomics", check_atomics)
  h.group("access.update_orderings", check_update_orderings)
end
