-- Copies between views whose axes are cut and in any order, of layouts that are drawn: on the CPU, and on the
-- virtual GPU, where those in many pieces are a kernel's. Each element is compared, and what lies between those of
-- the target is as it was.
-- gpulua copies.lua [SEED COUNT]
local gpu = require "gpulua"
local first, count = tonumber(arg[1] or 1), tonumber(arg[2] or 60)
local TYPES = { u8 = 8, i16 = 16, i32 = 32, f64 = 64 }
local LONG = { { 1048579, 2 }, { 2, 1048579 } } -- one loop is too long for a kernel: drawn first
local NAMES = { "u8", "i16", "i32", "f64" }

local kernels = 0 -- that copies were compiled to

local function wrapped(dtype, value)
  if dtype == "u8" then return value % 256 end
  if dtype == "i16" then return (value + 32768) % 65536 - 32768 end
  return value
end

local function shuffled(n)
  local axes = {}
  for i = 1, n do table.insert(axes, math.random(i), i) end
  return axes
end

-- Extents of about `numel` elements.
local function extents(rank, numel)
  local dims, left = {}, numel
  for i = 1, rank do
    dims[i] = i == rank and math.max(1, left) or math.random(math.max(1, math.min(left, math.random(4) == 1 and left or 40)))
    left = left // dims[i]
  end
  local order, mixed = shuffled(rank), {}
  for i, axis in ipairs(order) do mixed[i] = dims[axis] end
  return mixed
end

-- A tensor whose view has the extents `dims`: its own extents, the part and the order of axes that make the view.
local function layout(dims)
  local l = { axes = shuffled(#dims), shape = {}, part = {}, start = {} }
  for i, axis in ipairs(l.axes) do
    local before, behind = math.random(0, 2) // 2 * math.random(3), math.random(0, 2) // 2 * math.random(3)
    l.shape[axis], l.part[axis], l.start[axis] = before + dims[i] + behind, { before + 1, before + dims[i] }, before
  end
  return l
end

local function view(t, l) return t:slice(table.unpack(l.part)):permute(l.axes) end

-- The places of the view's elements, in row-major order of the view.
local function places(l, dims)
  local stride, step = {}, 1
  for axis = #dims, 1, -1 do stride[axis], step = step, step * l.shape[axis] end
  local list, at = {}, 0
  for axis = 1, #dims do at = at + l.start[axis] * stride[axis] end
  local function walk(i, from)
    if i > #dims then list[#list + 1] = from return end
    for k = 0, dims[i] - 1 do walk(i + 1, from + k * stride[l.axes[i]]) end
  end
  walk(1, at)
  return list
end

local function size(shape)
  local n = 1
  for _, extent in ipairs(shape) do n = n * extent end
  return n
end

local function try(device, seed)
  assert(gpu.device(device))
  math.randomseed(seed)
  local dtype = NAMES[math.random(#NAMES)]
  local dims = extents(math.random(6), math.random(300000, 700000) // TYPES[dtype])
  dims = LONG[seed] or dims
  local from, to = layout(dims), layout(dims)
  local x = gpu.arange(size(from.shape), "i32"):convert(dtype):reshape(from.shape)
  local z = gpu.full(to.shape, 77, dtype)
  local compiled = gpu.compile_stats().compiled
  view(z, to):copy_from(view(x, from))
  kernels = kernels + gpu.compile_stats().compiled - compiled
  local got, want = z:reshape({ size(to.shape) }):to_table(), {}
  local sources = places(from, dims)
  for i, place in ipairs(places(to, dims)) do want[place] = sources[i] end
  for place = 0, #got - 1 do
    local value = want[place] and wrapped(dtype, want[place]) or 77
    if got[place + 1] ~= value then
      error(("%s, seed %d, %s of %s, axes %s: element %d is %s, not %s"):format(device, seed, dtype, table.concat(dims, "x"),
        table.concat(from.axes, ","), place, got[place + 1], value), 0)
    end
  end
end

for seed = first, first + count - 1 do
  try("cpu", seed)
  try("cuda:0", seed)
end
assert(kernels > 0, "no copy was a kernel's")
print(("copies: %d layouts on the CPU and on a GPU, %d kernels"):format(count, kernels))
