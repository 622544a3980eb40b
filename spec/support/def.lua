-- Reads the rows of the project's tables, the .def files.
local sh = require "spec.support.sh"

local def = {}

-- A table's text without comments, the tables that it includes in their places.
local function read(path)
  local text = assert(sh.read(path)):gsub("/%*.-%*/", "")
  return (text:gsub('#include "([%w_/]+%.def)"', read))
end

-- The columns of each row GP_X(..) of a file, as text; comments are left out.
function def.rows(path, macro)
  local text = read(path)
  local rows = {}
  for body in text:gmatch("%f[%w_]" .. macro .. "(%b())") do
    local columns, depth, start, i = {}, 0, 2, 2
    while i <= #body do
      local c = body:sub(i, i)
      if c == '"' then
        i = i + 1
        while body:sub(i, i) ~= '"' do i = i + (body:sub(i, i) == "\\" and 2 or 1) end
      elseif c == "(" then
        depth = depth + 1
      elseif c == "," and depth == 0 or i == #body then
        columns[#columns + 1] = body:sub(start, i - 1):match("^%s*(.-)%s*$")
        start = i + 1
      elseif c == ")" then
        depth = depth - 1
      end
      i = i + 1
    end
    if #columns > 1 then rows[#rows + 1] = columns end
  end
  assert(#rows > 0, path .. " has no " .. macro)
  return rows
end

local ESCAPES = { n = "\n", t = "\t" }

-- The text of a column of string literals.
function def.text(column)
  local parts = {}
  for part in column:gmatch('"(.-[^\\])"') do parts[#parts + 1] = part end
  return (table.concat(parts):gsub("\\(.)", function(c) return ESCAPES[c] or c end))
end

return def
