-- Five changes of a kernel, each of which should make it wrong: two shapes exchanged, `mut` dropped, a use after a
-- move, another element type, a use renamed. Nothing is read but the kernel's own text.
local cut = require "cut"

local mutate = {}

local OTHER = {
  f16 = "f32", bf16 = "f32", f32 = "f64", f64 = "f32", i8 = "i16", i16 = "i32", i32 = "i64", i64 = "i32",
  u8 = "u16", u16 = "u32", u32 = "u64", u64 = "u32", bool = "i32",
}

local function splice(text, first, last, with) return text:sub(1, first - 1) .. with .. text:sub(last + 1) end

-- The parts of a kernel: its text, the same masked, where its parameters and its body start.
local function parts_of(text, entry)
  local masked = cut.masked(text)
  local params = masked:find(entry.params, entry.first, true)
  return { text = text, masked = masked, params = params, body = params + #entry.params, last = entry.last }
end

-- Calls f(first, last, captures..) for each match of a pattern in the kernel, from `from` on.
local function each(p, pattern, from, f)
  local at = from
  while true do
    local found = table.pack(p.masked:find(pattern, at))
    if not found[1] or found[1] > p.last then return end
    f(table.unpack(found, 1, found.n))
    at = found[1] + 1
  end
end

-- The bracketed lists that are shapes, as {first, last}: of types in braces, of macros.
local function shapes_of(p)
  local list = {}
  for _, pattern in ipairs { "{%s*()%b[]()%s*}", "shape!%s*()%b[]()" } do
    each(p, pattern, p.params, function(_, _, first, after) list[#list + 1] = { first, after - 1 } end)
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

local function words(text) return (text:gsub("%s+", "")) end

-- Each kind adds its mutants of a kernel, those first that say most: add(offset, text).
mutate.kinds = { "shapes", "mut", "move", "dtype", "rename" }

-- Exchanges two shapes that follow each other and differ.
function mutate.shapes(p, add)
  local list = shapes_of(p)
  for i = 1, #list - 1 do
    local a, b = list[i], list[i + 1]
    local x, y = p.text:sub(a[1], a[2]), p.text:sub(b[1], b[2])
    if words(x) ~= words(y) then add(a[1], splice(splice(p.text, b[1], b[2], x), a[1], a[2], y)) end
  end
end

-- Drops `mut`, of the body first.
function mutate.mut(p, add)
  for _, from in ipairs { p.body, p.params } do
    each(p, "%f[%w_]mut%f[^%w_]%s*", from, function(first, last)
      if from == p.body or first < p.body then add(first, splice(p.text, first, last, "")) end
    end)
  end
end

-- Moves a `&mut` parameter away at the body's start.
function mutate.move(p, add)
  each(p, "([%w_]+):%s*&mut%s", p.params, function(first, _, name)
    local open = p.masked:find("{", p.body, true)
    if first < p.body then add(open, splice(p.text, open, open, "{ let moved_away = " .. name .. ";")) end
  end)
end

-- Names another element type: of a tensor that is written, else in the body, else of a parameter.
function mutate.dtype(p, add)
  local function change(first, last)
    local other = OTHER[p.masked:sub(first, last)]
    if other then add(first, splice(p.text, first, last, other)) end
  end
  each(p, "&mut%s+Tensor<()%w+()", p.params, function(_, _, first, after) change(first, after - 1) end)
  each(p, "%f[%w_]()%w+()%f[^%w_]", p.body, function(_, _, first, after) change(first, after - 1) end)
  each(p, "%f[%w_]()%w+()%f[^%w_]", p.params, function(_, _, first, after)
    if first < p.body and not p.masked:find("^&mut%s+Tensor<", first - 12) then change(first, after - 1) end
  end)
end

-- Gives the last use of a parameter a name that nothing has.
function mutate.rename(p, add)
  each(p, "%f[%w_]([%w_]+):%f[^:]", p.params, function(first, _, name)
    local last
    each(p, "%f[%w_]" .. name .. "()%f[^%w_]", p.body, function(_, _, after) last = after end)
    if first < p.body and last then add(last, splice(p.text, last, last - 1, "_renamed")) end
  end)
end

-- The mutants of an entry of a source text: {kind, index among the kind's, line, text}.
function mutate.all(text, entry)
  local p, out = parts_of(text, entry), {}
  for _, kind in ipairs(mutate.kinds) do
    local index = 0
    mutate[kind](p, function(offset, mutant)
      index = index + 1
      local line = select(2, text:sub(1, offset - 1):gsub("\n", "")) + 1
      out[#out + 1] = { kind = kind, index = index, line = line, text = mutant }
    end)
  end
  return out
end

return mutate
