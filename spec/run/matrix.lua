-- The matrix of operations and element types. A cell is full when a kernel whose results were
-- compared has the operation on that type in its IR, or when a kernel that wants it is refused by
-- a diagnostic whose code and text are pinned. Where the language has another operation in its place
-- on a type, that one was run, and the cell names it. There is no other kind: run.lua fails on an
-- empty cell. Operations that no element type concerns have the one cell "any".
local gpu = require "gpulua"
local formats = require "formats"

local matrix = {}

-- The operand that an operation's element type is told by, where it is not the result.
local SUBJECT = { cmp = 1, cast = 1, bitcast = 1, mma = 1, mma_scaled = 1, check_div = 1, store_tile = 2, store = 2, scatter = 3 }

local takes, cells = {}, {}
for _, op in ipairs(gpu.ops()) do
  local set = {}
  for _, dtype in ipairs(op.dtypes) do set[dtype] = true end
  takes[op.name], cells[op.name] = #op.dtypes > 0 and set or nil, {}
end

-- The element type that a type of IR text names: "f16", "tile<4 x f16>", "ptr<f16, global>".
local function elem_of(text)
  return text:match "^%l+<[^>]*x (%w+)>" or text:match "^ptr<(%w+)" or text:match "^%w+"
end

-- What the kernel's IR has: set[op][element type or "any"].
local function operations(ir)
  local types, set = {}, {}
  for name, text in ir:gmatch "(%%[%w_.]+): (%l[%w<>?, ]*)" do types[name] = elem_of(text) end
  for line in ir:gmatch "[^\n]+" do
    local result, rest = line:match "^%s*(%%[%w_.]+) = (.*)$"
    rest = rest or line:match "^%s*(%l.*)$" or ""
    local op, operands = rest:match "^([%l%d_]+)%S* ?([^:]*)"
    if result then types[result] = elem_of(rest:match " : (.+)$" or "") end
    if op and cells[op] then
      local at, elem = 0, types[result]
      for name in operands:gmatch "%%[%w_.]+" do
        at = at + 1
        if at == SUBJECT[op] then elem = types[name] end
      end
      set[op] = set[op] or {}
      set[op][takes[op] and elem or "any"] = true
    end
  end
  return set
end

-- The kernel was run and compared, on `dtype`: fills the cells of the operations named.
function matrix.covers(h, kernel, dtype, ...)
  local set = operations(kernel:inspect "ir")
  for _, op in ipairs { ... } do
    local column = takes[op] and dtype or "any"
    if h.check(set[op] and set[op][column], "the kernel has no `%s` on %s", op, column) then
      cells[op][column] = "run"
    end
  end
end

-- What asks for `op` on this type was run, and is the operation `instead`.
function matrix.becomes(h, kernel, dtype, op, instead)
  local set = operations(kernel:inspect "ir")
  if h.check(set[instead] and set[instead][dtype] and not set[op], "`%s` on %s is no `%s`", op, dtype, instead) then
    cells[op][dtype] = instead
  end
end

-- The same; where the kernel ran on no GPU, one's code can be made of it.
function matrix.compiled(h, kernel, dtype, ...)
  matrix.covers(h, kernel, dtype, ...)
  if h.device.kind == "cuda" then return end
  local ok, text = pcall(kernel.inspect, kernel, "ptx", "sm_90")
  h.check(ok, "PTX for %s: %s", dtype, tostring(text))
end

-- The diagnostic of a kernel's text, or of f, which launches it.
local function report_of(text_or_f)
  if type(text_or_f) == "string" then
    local made, err = gpu.try_kernels(text_or_f, "case")
    return not made and err or nil
  end
  local ok, err = pcall(text_or_f)
  return not ok and (type(err) == "userdata" and err or error(err, 0)) or nil
end

-- What wants the operation on the type is refused, in these words.
function matrix.refused(h, op, dtype, text_or_f, code, message)
  local err = report_of(text_or_f)
  local is_right = h.check(err and err.code == code and err.message == message, "%s on %s: %s %s, expected %s %s", op,
    dtype, err and err.code, err and err.message, code, message)
  if is_right then cells[op][dtype] = cells[op][dtype] or code end
end

-- Cells in the order of op.def and elem.def.
local function each(f)
  for _, op in ipairs(gpu.ops()) do
    for _, column in ipairs(takes[op.name] and formats.list or { "any" }) do f(op.name, column, cells[op.name][column]) end
  end
end

function matrix.check(h)
  each(function(op, column, cell)
    h.check(cell, "no case runs `%s` on %s, and none pins that it is refused", op, column)
    h.check(cell ~= "run" or column == "any" or takes[op][column], "`%s` ran on %s, which op.def does not give it", op, column)
  end)
end

function matrix.counts()
  local all, run, refused = 0, 0, 0
  each(function(_, _, cell)
    all = all + 1
    local is_refused = cell and cell:find "^[EG]%d"
    run = run + (cell and not is_refused and 1 or 0)
    refused = refused + (is_refused and 1 or 0)
  end)
  return all, run, refused
end

-- One line an operation: ok, or the code of the refusal, for each element type.
function matrix.print()
  local line = { ("%-14s"):format "" }
  for _, dtype in ipairs(formats.list) do line[#line + 1] = ("%-8s"):format(dtype) end
  local last
  each(function(op, column, cell)
    if op ~= last then
      print((table.concat(line, " "):gsub(" +$", "")))
      last, line = op, { ("%-14s"):format(op) }
    end
    line[#line + 1] = ("%-8s"):format(cell == "run" and "ok" or cell or "-")
    if column == "any" then line[#line + 1] = "on any" end
  end)
  print((table.concat(line, " "):gsub(" +$", "")))
end

return matrix
