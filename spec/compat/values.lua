-- Kernels of cutile-rs's examples and inference library, taken from a checkout and run: their results against
-- plain Lua.
--
--   GPULUA_CUTILE=CHECKOUT gpulua spec/compat/values.lua [--device cpu|interp|cuda:0] [FILTER]
--
-- Prints a line for each kernel, and exits 1 when a result is wrong. Without a checkout, says so and does nothing.
local folder = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = folder .. "/?.lua;" .. package.path

local gpu = require "gpulua"
local rows = require "rows"

local root = os.getenv "GPULUA_CUTILE"
if not root then
  print "skipped: GPULUA_CUTILE names no checkout of cutile-rs"
  os.exit(0)
end
local device, filter = os.getenv "GPULUA_DEVICE" or "cpu", arg[1]
if arg[1] == "--device" then device, filter = arg[2], arg[3] end
device = assert(gpu.device(device))

local t = {}

-- The values of a tensor in row-major order.
function t.flat(x) return x:reshape { x.numel }:to_table() end

-- Compares a tensor with want(i, j, ..), its indices from 0: within `tolerance`, relative beyond 1.
function t.check(x, tolerance, want)
  local values, shape, at = t.flat(x), x.shape, {}
  for i = 1, #shape do at[i] = 0 end
  for n, got in ipairs(values) do
    local expected = want(table.unpack(at))
    local is_close = got == expected or math.abs(got - expected) <= tolerance * math.max(1, math.abs(expected))
    if not is_close then
      error(("[%s] is %s, expected %s"):format(table.concat(at, ", "), got, expected), 0)
    end
    local axis = #shape
    while axis > 0 do
      at[axis] = at[axis] + 1
      if at[axis] < shape[axis] or n == #values then break end
      at[axis], axis = 0, axis - 1
    end
  end
end

-- A function of indices from 0 that reads a tensor.
function t.reader(x)
  local values, shape = t.flat(x), x.shape
  return function(...)
    local at = 0
    for axis = 1, #shape do at = at * shape[axis] + select(axis, ...) end
    return values[at + 1]
  end
end

-- Numbers from -4 to 4 in steps of a quarter: products and short sums of them are exact.
function t.quarters(shape, dtype)
  local count, values = 1, {}
  for _, n in ipairs(shape) do count = count * n end
  for i = 1, count do values[i] = math.random(-16, 16) / 4 end
  return gpu.from_table(values, dtype):reshape(shape)
end

-- What a kernel without parameters prints in a process of its own, in lines.
function t.printed(source, entry, grid)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(source)
  file:close()
  local script = ("local gpu = require 'gpulua' gpu.device '%s' gpu.kernels(io.open('%s'):read 'a').%s:with { grid = { %s } } ():sync()")
    :format(device.name, path, entry, table.concat(grid, ", "))
  local pipe = assert(io.popen(("'%s' -e \"%s\" 2>&1"):format(arg[-1], script)))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  os.remove(path)
  return lines
end

gpu.seed(1)
math.randomseed(1)
local wrong, count = 0, 0
print(("device %s, %s"):format(device.name, device.product or device.kind))
for _, name in ipairs { "values_examples", "values_kernels" } do
  for _, case in ipairs(require(name)(gpu, t)) do
    local row = { file = case.file, module = case.module }
    local id = ("%2d  %s %s"):format(case.row, case.file, case.entry)
    if not filter or id:find(filter, 1, true) then
      local source = rows.source(root, row, function() return true end)
      local is_right, err = pcall(function() case.run(gpu.kernels(source, case.file)[case.entry], source) end)
      count = count + 1
      if not is_right then wrong = wrong + 1 end
      print(("%-5s row %s%s"):format(is_right and "ok" or "WRONG", id, is_right and "" or ": " .. tostring(err)))
    end
  end
end
print(("%d kernels, %d wrong"):format(count, wrong))
os.exit(wrong == 0, true)
