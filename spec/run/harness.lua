-- What the cases of spec/run share: data on a device, kernels of one expression, comparison.
local gpu = require "gpulua"
local formats = require "formats"

local h = { failures = {}, groups = {}, ulps = {}, tile = 128 }

h.PERIOD = 1025
h.SIZES = { 1, 7, 1000, 1025 }
h.LARGE = 1 << 20

function h.fail(text, ...)
  local message = select("#", ...) > 0 and text:format(...) or text
  h.failures[#h.failures + 1] = { group = h.current and h.current.name, message = message }
  if h.current then h.current.failed = h.current.failed + 1 end
end

-- Counts one check of the current group.
function h.check(is_right, text, ...)
  h.current.checks = h.current.checks + 1
  if not is_right then h.fail(text, ...) end
  return is_right
end

-- Runs f as a named group, when the filter lets it; an error in it is a failure of the group.
function h.group(name, f)
  if h.filter and not name:find(h.filter, 1, true) then return end
  local group = { name = name, checks = 0, failed = 0, skipped = nil }
  h.groups[#h.groups + 1], h.current = group, group
  local started = gpu.clock()
  local ok, err = xpcall(f, function(e) return tostring(e) .. (type(e) == "string" and "\n" .. debug.traceback() or "") end, h)
  if not ok then h.fail("%s", tostring(err)) end
  group.seconds = gpu.clock() - started
  if h.report then h.report(group) end
  h.current = nil
end

function h.skip(reason)
  h.current.skipped = reason
end

-- A test that a wrong program must fail.
function h.mutant(is_equal, what)
  h.check(not is_equal, "%s: the changed operator was not noticed", what)
end

-- Runs f(tensors..) on the device and by the interpreter; what is written has to be the same bytes.
function h.both(what, tensors, f)
  local there = {}
  for i, t in ipairs(tensors) do there[i] = t:to "interp" == t and t:copy() or t:to "interp" end
  f(table.unpack(tensors))
  f(table.unpack(there))
  for i, t in ipairs(tensors) do h.check(t:to_bytes() == there[i]:to_bytes(), "%s: tensor %d differs", what, i) end
end

-- ---- Data ----------------------------------------------------------------------------------------

-- Bytes of `count` elements that repeat a block.
function h.repeated(f, block, count)
  local bytes = count * f.size
  return block:rep(bytes // #block + 1):sub(1, bytes)
end

function h.tensor(dtype, bytes, shape, device)
  local t = gpu.from_bytes(bytes, shape or { #bytes // formats.of[dtype].size }, dtype)
  return device and assert(t:to(device)) or t
end

-- A seed for one use, from the run's.
function h.seed_of(...)
  local seed = h.seed
  for _, part in ipairs { ... } do
    for i = 1, #tostring(part) do seed = seed * 31 + tostring(part):byte(i) end
  end
  return seed
end

-- ---- Comparison ----------------------------------------------------------------------------------

local function show(f, code)
  local v = formats.decode(f, code)
  return ("%s (0x%0" .. f.size * 2 .. "x)"):format(v, code)
end

-- Compares bytes of a tensor with the codes that are expected, in order from the first; a code
-- that is false is not known. Any NaN equals any other. Beyond `ulps` (0: every bit, signs of
-- zero too) is wrong, unless `allow` (bounds.allowance) knows it. Returns whether all are right,
-- what is wrong first, and the largest error.
function h.compare(dtype, bytes, codes, ulps, count, allow)
  local f, worst, wrong = formats.of[dtype], 0, nil
  for i = 1, count or #codes do
    local want, got = codes[i], formats.code_at(f, bytes, i)
    if want and want ~= got and not (allow and allow(i, want, got)) then
      local error = math.huge
      if f.class == "float" then
        local x, y = formats.decode(f, want), formats.decode(f, got)
        if x ~= x and y ~= y then error = 0 end
        if ulps and ulps > 0 then error = formats.ulps(f, want, got) end
      end
      worst = math.max(worst, error)
      if error > (ulps or 0) and not wrong then
        wrong = ("element %d is %s, expected %s"):format(i - 1, show(f, got), show(f, want))
      end
    end
  end
  return wrong == nil, wrong, worst
end

-- Whether two byte strings hold the same elements, NaNs being equal. Blocks that agree byte by
-- byte cost nothing more.
function h.same(dtype, got, want)
  if got == want then return true end
  if #got ~= #want then return false, ("%d bytes, expected %d"):format(#got, #want) end
  local f, step = formats.of[dtype], 1024 * formats.of[dtype].size
  for at = 1, #got, step do
    local a, b = got:sub(at, at + step - 1), want:sub(at, at + step - 1)
    if a ~= b then
      for i = 1, #a // f.size do
        local x, y = formats.code_at(f, a, i), formats.code_at(f, b, i)
        if x ~= y and not (f.class == "float" and formats.ulps(f, x, y) == 0 and formats.decode(f, x) ~= formats.decode(f, x)) then
          return false, ("element %d is %s, expected %s"):format((at - 1) // f.size + i - 1, show(f, x), show(f, y))
        end
      end
    end
  end
  return true
end

-- The bytes of the expected codes, with what was got where none is known.
function h.patched(dtype, got, codes)
  local f, all = formats.of[dtype], {}
  for i, code in ipairs(codes) do all[i] = code or formats.code_at(f, got, i) end
  return formats.pack(f, all)
end

function h.note_ulps(op, dtype, worst)
  local row = h.ulps[op] or {}
  row[dtype] = math.max(row[dtype] or 0, worst)
  h.ulps[op] = row
end

-- ---- Kernels of one expression ---------------------------------------------------------------------

local NAMES = { "x", "y", "w" }

-- The text of kernel `name`, which stores EXPRESSION over a, b, c for every element.
function h.elementwise(track, name, expression, arity, dtype, result)
  local params, lets = {}, {}
  for i = 1, arity do
    local p, v = NAMES[i], ("abc"):sub(i, i)
    if track == "tile" then
      params[i] = ("%s: &Tensor<%s, {[-1]}>"):format(p, dtype)
      lets[i] = ("let %s = %s.load_like(z);"):format(v, p)
    else
      params[i] = ("%s: &[%s]"):format(p, dtype)
      lets[i] = ("let %s = %s[i];"):format(v, p)
    end
  end
  params, lets = table.concat(params, ", "), table.concat(lets, " ")
  if track == "tile" then
    return ("#[tile]\nfn %s<const B: i32>(z: &mut Tensor<%s, {[B]}>, %s) { %s z.store(%s); }\n"):format(
      name, result, params, lets, expression)
  end
  return ("#[kernel]\nfn %s(%s, mut z: DisjointSlice<%s>) { let idx = thread::index_1d(); let i = idx.get(); " ..
    "if let Some(out) = z.get_mut(idx) { %s *out = %s; } }\n"):format(name, params, result, lets, expression)
end

-- Launches such a kernel over the first n elements of the operands; the result's bytes.
function h.launch(track, kernel, operands, result, n)
  local z = gpu.zeros({ n }, result)
  if track == "tile" then
    kernel(z:tiles { h.tile }, table.unpack(operands)):sync()
  else
    local args = { table.unpack(operands) }
    args[#args + 1] = z
    kernel(table.unpack(args)):sync()
  end
  return z:to_bytes()
end

return h
