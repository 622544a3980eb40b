-- Reads the rows of the project's tables, the .def files.
local sh = require "spec.support.sh"

local def = {}

-- The place of the last character of the string literal that begins at `at`.
local function string_end(text, at)
  repeat at = text:find('[\\"]', at + 1) + 1 until text:sub(at - 1, at - 1) == '"'
  return at - 1
end

local function without_comments(text)
  local parts, at, seek = {}, 1, 1
  while true do
    local first = text:find('["/]', seek)
    if not first then return table.concat(parts) .. text:sub(at) end
    seek = first + 1
    if text:sub(first, first) == '"' then
      seek = string_end(text, first) + 1
    elseif text:sub(seek, seek) == "*" then
      parts[#parts + 1] = text:sub(at, first - 1)
      at = select(2, text:find("*/", seek + 1, true)) + 1
      seek = at
    end
  end
end

-- A table's text without comments, the tables that it includes in their places.
local function read(path)
  local text = without_comments(assert(sh.read(path)))
  return (text:gsub('#include "([%w_/]+%.def)"', read))
end

-- The columns of each row GP_X(..) of a file, as text; comments are left out.
function def.rows(path, macro)
  local text = read(path)
  local rows = {}
  for start in text:gmatch("%f[%w_]" .. macro .. "%(()") do
    local columns, depth, i = {}, 0, start
    while depth >= 0 do
      local c = text:sub(i, i)
      if c == '"' then
        i = string_end(text, i)
      elseif c == "(" then
        depth = depth + 1
      elseif c == ")" then
        depth = depth - 1
      end
      if depth < 0 or c == "," and depth == 0 then
        columns[#columns + 1] = text:sub(start, i - 1):match("^%s*(.-)%s*$")
        start = i + 1
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
  local at = column:find('"', 1, true)
  while at do
    local last = string_end(column, at)
    parts[#parts + 1] = column:sub(at + 1, last - 1)
    at = column:find('"', last + 1, true)
  end
  return (table.concat(parts):gsub("\\(.)", function(c) return ESCAPES[c] or c end))
end

return def
