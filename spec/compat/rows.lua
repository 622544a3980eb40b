-- The rows of tile.tsv, and the sources and generics that they name.
local cut = require "cut"

local rows = {}

local COLUMNS = { "file", "module", "entry", "generics", "dtypes", "verdict", "class" }

-- Classes of reasons: the verdict that we give where it is not upstream's, and our codes of a refusal.
-- docs/compatibility.md explains each.
local CLASSES = {
  ["-"] = {},
  sm_100 = {}, -- compiled for the CPU only
  unresolved = { codes = "E0425" },
  static = { codes = "G0220" },
  bounds = { codes = "G0255 G0256 G0258 G0261" },
  residual = { codes = "G0260" },
  ["foreign-index"] = { codes = "G0256 G0259" },
  map = { codes = "G0257" },
  ["launch-tile"] = { ours = "refused", codes = "G0255" },
  checked = { ours = "accepted" },
  launched = { ours = "accepted" },
  limitation = { ours = "accepted" },
  ["ill-shaped"] = { ours = "refused", codes = "G0153" },
  large = { ours = "refused", codes = "G0254" },
  unsafe = { ours = "refused", codes = "E0133" },
}

-- Whether a verdict of ours is the one that is expected of a row, for its class of reason.
function rows.is_expected(row, verdict, code)
  local class = assert(CLASSES[row.class], row.class)
  if verdict ~= (class.ours or row.verdict) then return false end
  return verdict == "accepted" or (" " .. class.codes .. " "):find(" " .. code .. " ", 1, true) ~= nil
end

-- Whether the expected verdict is not upstream's.
function rows.is_exception(row)
  local ours = CLASSES[row.class].ours
  return ours ~= nil and ours ~= row.verdict
end

function rows.read(path)
  local list = {}
  for line in io.lines(path) do
    if not line:find "^#" then
      local row, i = {}, 0
      for cell in line:gmatch "[^\t]+" do
        i = i + 1
        row[COLUMNS[i]] = cell
      end
      assert(i == #COLUMNS, line)
      list[#list + 1] = row
    end
  end
  return list
end

local texts = {}
local function text_of(root, file)
  if not texts[file] then
    local handle = assert(io.open(root .. "/" .. file))
    texts[file] = handle:read "a"
    handle:close()
    -- kernels of the crate itself: seen from outside it has a name
    if file:find "^cutile/src/" then texts[file] = texts[file]:gsub("%f[%w]crate::", "cutile::") end
  end
  return texts[file]
end

local function find_module(text, name)
  local modules = cut.modules(text)
  for i, m in ipairs(modules) do
    if m.name == name then return modules, i end
  end
  error("no module " .. name)
end

-- The text of a row's module with those of its kernels that `is_wanted` lets.
function rows.source(root, row, is_wanted)
  local text = text_of(root, row.file)
  local modules, index = find_module(text, row.module)
  for _, entry in ipairs(cut.entries(text, modules[index])) do
    if not is_wanted(entry.name) then text = cut.without(text, entry) end
  end
  return cut.source(text, modules, index)
end

-- The source with an entry declared `unsafe`.
function rows.with_unsafe(source, entry)
  return (source:gsub("%f[%w_]fn%s+" .. entry .. "%f[^%w_]", "unsafe %0"))
end

local function value_of(text)
  if text == "true" or text == "false" then return text == "true" end
  if not text:find "^%[" then return math.tointeger(text) or error("no value: " .. text) end
  local list = {}
  for number in text:gmatch "%-?%d+" do list[#list + 1] = math.tointeger(number) end
  return list
end

-- The generics that are types, in the order of their declaration.
local function type_params(generics)
  local names = {}
  for _, part in ipairs(cut.list(generics:sub(2, -2))) do
    local name = part:match "^([%w_]+)"
    if name and name ~= "const" then names[#names + 1] = name end
  end
  return names
end

-- The generics of each instance that a row asks for: one for each of its dtypes; `a/b` are those of two types.
function rows.instances(root, row)
  local text = text_of(root, row.file)
  local modules, index = find_module(text, row.module)
  local params
  for _, entry in ipairs(cut.entries(text, modules[index])) do
    if entry.name == row.entry then params = type_params(entry.generics) end
  end
  local list = {}
  for dtypes in row.dtypes:gmatch "%S+" do
    local generics, i = {}, 0
    for name, value in row.generics:gmatch "([%w_]+)=(%S+)" do generics[name] = value_of(value) end
    for dtype in dtypes:gmatch "[%w_]+" do
      i = i + 1
      generics[params[i]] = dtype
    end
    list[#list + 1] = generics
  end
  return list
end

return rows
