-- Numeric specs that need nothing but the program:
--
--   gpulua spec/run/run.lua [--device cpu|interp|cuda:0] [--seed N] [--json FILE] [--matrix] [FILTER]
--
-- Each case compares kernels on the device with plain Lua (formats.lua, arith.lua), and checks
-- that a kernel with one operator changed is noticed. Groups whose names hold FILTER are run.
-- Exits 1 when something is wrong.
local folder = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = folder .. "/?.lua;" .. package.path

local gpu = require "gpulua"
local h = require "harness"
local formats = require "formats"
local matrix = require "matrix"

local CASES = {
  "cases_ops",
  "cases_casts",
  "cases_mpfr",
  "cases_round",
  "cases_shapes",
  "cases_widths",
  "cases_weights",
  "cases_narrow",
  "cases_control",
  "cases_ranges",
  "cases_tile",
  "cases_types",
  "cases_access",
  "cases_scaled",
  "cases_tile_fns",
  "cases_tile_forms",
  "cases_divide",
  "cases_views",
  "cases_scan",
  "cases_alone",
  "cases_updates",
  "cases_tile_raw",
  "cases_examples",
}

local options = { device = os.getenv("GPULUA_DEVICE") or "cpu", seed = os.time() }
local i = 1
while arg[i] do
  local name = arg[i]:match("^%-%-(%a+)$")
  if name == "device" or name == "json" or name == "seed" then
    options[name] = assert(arg[i + 1], "--" .. name .. " wants a value")
    i = i + 1
  elseif name == "matrix" then
    options.matrix = true
  elseif name then
    error("unknown option " .. arg[i])
  else
    options.filter = arg[i]
  end
  i = i + 1
end

local device = assert(gpu.device(options.device))
h.device, h.filter, h.folder = device, options.filter, folder
h.math = device.kind == "cuda" and device.math or nil
h.seed = math.tointeger(options.seed)
-- A million elements of each operation are for what is fast: not the interpreter, nor spec/vgpu.
h.has_large = device.kind ~= "interp" and device.product ~= "virtual"
gpu.seed(h.seed)

local large, large_dtype = {}, nil
-- The large operand of a type, kept while the type stays.
function h.large(dtype, index, block)
  if dtype ~= large_dtype then large, large_dtype = {}, dtype end
  local kept = large[index]
  if not kept or kept.block ~= block then
    kept = { block = block, tensor = h.tensor(dtype, h.repeated(formats.of[dtype], block, h.LARGE)) }
    large[index] = kept
  end
  return kept.tensor
end

function h.report(group)
  local state = group.failed > 0 and "FAIL" or group.skipped and "skip" or "ok"
  print(("%-4s %-28s %5d checks %6.2f s%s"):format(state, group.name, group.checks, group.seconds,
    group.skipped and "  " .. group.skipped or ""))
end

print(("device %s, %s, seed %d%s"):format(device.name, device.product or device.kind, h.seed,
  device.kind == "cuda" and ", device math " .. tostring(device.math) or ""))
local started = gpu.clock()
for _, name in ipairs(CASES) do require(name)(h) end

-- Every operation on every element type was run, or is refused in words that are pinned.
if not h.filter then
  h.group("matrix", matrix.check)
  if options.matrix then matrix.print() end
  print(("matrix: %d cells, %d run, %d refused"):format(matrix.counts()))
end

-- The largest errors seen, by function and type.
local functions = {}
for name in pairs(h.ulps) do functions[#functions + 1] = name end
table.sort(functions)
if #functions > 0 then print("\nlargest error in ULP") end
for _, name in ipairs(functions) do
  local cells = {}
  for _, dtype in ipairs(formats.list) do
    if h.ulps[name][dtype] then cells[#cells + 1] = ("%s %g"):format(dtype, h.ulps[name][dtype]) end
  end
  print(("  %-12s %s"):format(name, table.concat(cells, "  ")))
end

local function quote(text) return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"' end

-- One object: the device, the seed, the groups, the largest errors.
local function write_json(path)
  local file = assert(io.open(path, "w"))
  file:write(("{\"device\": %s, \"product\": %s, \"seed\": %d,\n \"groups\": ["):format(quote(device.name),
    quote(device.product or ""), h.seed))
  for n, group in ipairs(h.groups) do
    file:write(("%s\n  {\"name\": %s, \"checks\": %d, \"failed\": %d, \"seconds\": %.3f%s}"):format(n > 1 and "," or "",
      quote(group.name), group.checks, group.failed, group.seconds,
      group.skipped and ", \"skipped\": " .. quote(group.skipped) or ""))
  end
  file:write("],\n \"ulps\": {")
  for n, name in ipairs(functions) do
    local cells = {}
    for dtype, ulps in pairs(h.ulps[name]) do
      cells[#cells + 1] = ("%s: %s"):format(quote(dtype), ulps == math.huge and '"inf"' or ("%g"):format(ulps))
    end
    table.sort(cells)
    file:write(("%s\n  %s: {%s}"):format(n > 1 and "," or "", quote(name), table.concat(cells, ", ")))
  end
  file:write("},\n \"failures\": [")
  for n, failure in ipairs(h.failures) do
    file:write(("%s\n  [%s, %s]"):format(n > 1 and "," or "", quote(failure.group or ""), quote(failure.message)))
  end
  file:write("]}\n")
  file:close()
end

local MOST = 40
for n, failure in ipairs(h.failures) do
  if n > MOST then
    print(("and %d more"):format(#h.failures - MOST))
    break
  end
  print(("\n%s: %s"):format(failure.group, failure.message))
end
local checks = 0
for _, group in ipairs(h.groups) do checks = checks + group.checks end
print(("%d groups, %d checks, %d wrong, %.1f s; seed %d"):format(#h.groups, checks, #h.failures,
  gpu.clock() - started, h.seed))
if options.json then write_json(options.json) end
os.exit(#h.failures == 0, true)
