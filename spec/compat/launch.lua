-- Launches a kernel that is known by its parameters' text alone, on random inputs, and tells what it wrote.
local gpu = require "gpulua"
local cut = require "cut"

local launch = { seed = 1 }

local FLOATS = { f16 = true, bf16 = true, f32 = true, f64 = true }
local DYNAMIC, POINTED = 40, 4096 -- extents that no type gives

-- The extents that a shape's text gives for some generics: `{ [BM, -1] }` or `S`. Nil when it says more.
local function extents_of(text, generics)
  if type(generics[text]) == "table" then return generics[text] end
  local list = text:match "^{%s*%[(.*)%]%s*}$"
  if not list then return nil end
  local shape = {}
  for i, part in ipairs(cut.list(list)) do
    shape[i] = math.tointeger(part) or generics[part]
    if not math.type(shape[i]) then return nil end
  end
  return shape
end

local function random_tensor(shape, dtype)
  if FLOATS[dtype] then return gpu.randn(shape, dtype) end
  local count, values = 1, {}
  for _, n in ipairs(shape) do count = count * n end
  for i = 1, count do values[i] = dtype == "bool" and i % 3 == 0 or math.random(0, 3) end
  return gpu.from_table(values, dtype):reshape(shape)
end

local function make_tensor(kind, params, generics)
  local dtype, text = table.unpack(cut.list(params))
  local shape = extents_of(text, generics)
  dtype = generics[dtype] or dtype
  if not shape or #shape == 0 then return nil end
  local whole = {}
  -- two blocks along the first axis: outputs of other ranks agree on the grid
  for i, n in ipairs(shape) do whole[i] = n == -1 and DYNAMIC or kind == "&mut" and i == 1 and n * 2 or n end
  local t = random_tensor(whole, dtype)
  if kind ~= "&mut" then return t end
  local tile = {}
  for i, n in ipairs(shape) do tile[i] = n == -1 and DYNAMIC or n end
  return t:tiles(tile), t
end

local function make_scalar(dtype)
  if dtype == "bool" then return true end
  return FLOATS[dtype] and 0.5 or 1
end

-- Arguments for parameters as they are written, and the tensors that may be written; nil when a type says too little.
local function arguments(params, generics)
  local args, written = {}, {}
  for i, param in ipairs(cut.list(params:sub(2, -2))) do
    local kind, rest = param:match ":%s*(&?%s*m?u?t?)%s*Tensor<(.*)>$"
    if kind then
      local tensor
      args[i], tensor = make_tensor(kind:gsub("%s", ""), rest, generics)
      written[#written + 1] = tensor
    elseif param:find ":%s*%*" then
      local dtype = param:match "([%w_]+)$"
      args[i] = random_tensor({ POINTED }, generics[dtype] or dtype)
      written[#written + 1] = args[i]
    else
      local dtype = param:match ":%s*([%w_]+)$"
      args[i] = dtype and make_scalar(generics[dtype] or dtype)
    end
    if args[i] == nil then return nil end
  end
  return args, written
end

-- Runs the kernel whose parameters are written so: the bytes of what may be written; nil and why not.
function launch.run(kernel, params, generics)
  gpu.seed(launch.seed)
  math.randomseed(launch.seed)
  local args, written = arguments(params, generics)
  if not args then return nil, "no arguments are known for its parameters" end
  local has_tiles = params:find "&mut%s+Tensor" ~= nil
  local ok, err = pcall(function()
    local k = kernel:with(generics)
    if not has_tiles then k = k:with { grid = { 2 } } end
    k(table.unpack(args)):sync()
  end)
  if not ok then return nil, tostring(err):match "[^\n]*" end
  local bytes = {}
  for i, t in ipairs(written) do bytes[i] = t:to_bytes() end
  return table.concat(bytes, "|")
end

return launch
