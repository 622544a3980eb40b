-- Cuts kernel modules out of Rust sources: `#[cutile::module] mod NAME { .. }`, wherever it stands.
-- Everything else of the file becomes white space, so that lines and columns are the file's own.
local cut = {}

-- Where a string, character or comment that starts at `at` ends; nil when none starts there.
local function literal_end(text, at)
  local two = text:sub(at, at + 1)
  if two == "//" then return (text:find("\n", at, true) or #text + 1) - 1 end
  if two == "/*" then
    local depth, i = 1, at + 2
    while depth > 0 do
      local open, close = text:find("/*", i, true) or math.huge, text:find("*/", i, true) or #text
      depth, i = depth + (open < close and 1 or -1), math.min(open, close) + 2
    end
    return i - 1
  end
  local hashes = not text:find("^[%w_]", at - 1) and text:match('^b?r(#*)"', at)
  if hashes then
    local _, last = text:find('"' .. hashes, text:find('"', at, true) + 1, true)
    return last or #text
  end
  if text:find('^"', at) then
    local i = at + 1
    while i < #text and text:sub(i, i) ~= '"' do i = i + (text:sub(i, i) == "\\" and 2 or 1) end
    return i
  end
  -- a character, not a lifetime
  local _, last = text:find("^'\\?[^'\n]'", at)
  if not last then _, last = text:find("^'\\[^'\n]+'", at) end
  return last
end

local function blank(text) return (text:gsub("[^\n]", " ")) end

-- The text with strings, characters and comments blanked: braces in it are the program's.
function cut.masked(text)
  local parts, from, at = {}, 1, text:find("[\"'/br]")
  while at do
    local last = literal_end(text, at)
    if last then
      parts[#parts + 1] = text:sub(from, at - 1)
      parts[#parts + 1] = blank(text:sub(at, last))
      from = last + 1
    end
    at = text:find("[\"'/br]", (last or at) + 1)
  end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts)
end

-- The modules of a file, in order: {name, first, last}, the offsets of attribute and closing brace.
function cut.modules(text)
  local masked, found = cut.masked(text), {}
  for first, after in masked:gmatch "()#%[[%w_:]*module[^%]\n]*%]()" do
    local name, brace = masked:match("^[%s%w_#%[%]():,=]-%f[%w]mod%s+([%w_]+)%s*(){", after)
    if name then
      found[#found + 1] = { name = name, first = first, last = masked:match("^%b{}()", brace) - 1 }
    end
  end
  return found
end

-- The offset where an item starts whose attribute is at `at`: before its comments and other attributes.
local function item_start(masked, at)
  repeat
    local last = at - 1
    while masked:find("^%s", last) do last = last - 1 end
    local attribute = masked:sub(1, last):match "^.*()#%b[]$"
    at = attribute or last + 1
  until not attribute
  return at
end

-- The kernels of module `m`: {name, generics, params, first, last}: texts without comments, and the offsets of
-- where the kernel starts, comments included, and of its closing brace.
function cut.entries(text, m)
  local masked, found = cut.masked(text), {}
  for first, after in masked:gmatch "()#%[[%w_:]*%f[%w_]entry()%f[^%w_]" do
    if first > m.first and first < m.last then
      local name, open = masked:match("%f[%w]fn%s+([%w_]+)%s*()", after)
      local generics, params, body = masked:match("^(%b<>)%s*(%b())[^;]-()%f[{]", open)
      if not generics then params, body = masked:match("^(%b())[^;]-()%f[{]", open) end
      found[#found + 1] = { name = name, generics = generics or "", params = params,
        first = item_start(masked, first), last = masked:match("^%b{}()", body) - 1 }
    end
  end
  return found
end

-- The text with an entry blanked.
function cut.without(text, entry)
  return text:sub(1, entry.first - 1) .. blank(text:sub(entry.first, entry.last)) .. text:sub(entry.last + 1)
end

-- The parts of a list at its commas outside of brackets.
function cut.list(text)
  local parts, depth, from = {}, 0, 1
  local function add(last)
    local part = text:sub(from, last):match "^%s*(.-)%s*$"
    if part ~= "" then parts[#parts + 1] = part end
  end
  for at, c in text:gmatch "()([%[%]<>(){},])" do
    if c == "," and depth == 0 then
      add(at - 1)
      from = at + 1
    elseif c ~= "," then
      depth = depth + (c:find "[%[<({]" and 1 or -1)
    end
  end
  add(#text)
  return parts
end

-- The text of module number `index` and of those of the same file that it names, alone.
function cut.source(text, modules, index)
  local wanted, queue = { [index] = true }, { index }
  while #queue > 0 do
    local m = modules[table.remove(queue)]
    local body = text:sub(m.first, m.last)
    for i, other in ipairs(modules) do
      if not wanted[i] and body:find("%f[%w_]" .. other.name .. "::") then
        wanted[i] = true
        queue[#queue + 1] = i
      end
    end
  end
  local parts, from = {}, 1
  for i, m in ipairs(modules) do
    if wanted[i] then
      parts[#parts + 1] = blank(text:sub(from, m.first - 1))
      parts[#parts + 1] = text:sub(m.first, m.last)
      from = m.last + 1
    end
  end
  return table.concat(parts) .. "\n"
end

return cut
