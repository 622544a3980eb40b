-- The rules of ownership of tensors, partitions and ops, written apart from the runtime, and
-- a generator of scripts that walks the model: every statement comes with the verdict that the
-- rules give, "ok" or a code and the line that is blamed.
--
-- Elements are sets of numbers here, garbage is what no variable reaches, and a collection takes
-- place before every statement.
local model = {}

local Model = {}
Model.__index = Model

local VARIABLES = { "a", "b", "c", "d", "e", "p", "q", "o", "u", "w", "t.x", "t.y" }
local ELEMENTS = 16

function model.new(seed)
  local m = setmetatable({ vars = {}, storages = {}, ops = {}, seed = seed, line = 0 }, Model)
  for i = 1, 8 do m.seed = (m.seed * 1103515245 + 12345 + i) % 2147483648 end
  return m
end

function Model:random(n)
  self.seed = (self.seed * 1103515245 + 12345) % 2147483648
  return (self.seed >> 12) % n + 1
end

function Model:pick(list) return list[self:random(#list)] end

-- Values ---------------------------------------------------------------------------------------

function Model:tensor()
  local storage = { state = "owned", loans = {} }
  self.storages[#self.storages + 1] = storage
  local set = {}
  for i = 1, ELEMENTS do set[i] = i end
  return { kind = "tensor", storage = storage, set = set, flat = true }
end

local function view(t, first, last)
  return { kind = "tensor", storage = t.storage, flat = true, set = table.move(t.set, first, last, 1, {}) }
end

local function columns(t, first, last)
  local set = {}
  for row = 0, 3 do
    for column = first, last do set[#set + 1] = t.set[row * 4 + column] end
  end
  return { kind = "tensor", storage = t.storage, flat = false, set = set }
end

local function overlaps(a, b)
  if a.storage ~= b.storage then return false end
  local has = {}
  for _, i in ipairs(a.set) do has[i] = true end
  for _, i in ipairs(b.set) do
    if has[i] then return true end
  end
  return false
end

local function is_whole(t) return #t.set == ELEMENTS end

-- The collector --------------------------------------------------------------------------------

local function mark(value, seen)
  if not value or seen[value] then return end
  seen[value] = true
  if value.kind == "partition" then
    mark(value.tensor, seen)
  elseif value.kind == "coroutine" then
    mark(value.held, seen)
  elseif value.kind == "op" then
    for _, arg in ipairs(value.args) do
      -- until it runs an op holds all arguments, afterwards those that it returns
      if not value.run or arg.verb == "write" then
        mark(arg.via, seen)
        mark(arg.tensor, seen)
      end
    end
  end
end

function Model:collect()
  local seen = {}
  for _, value in pairs(self.vars) do mark(value, seen) end
  for _, storage in ipairs(self.storages) do
    if storage.state == "partitioned" and not seen[storage.owner] then
      storage.state, storage.owner = "owned", nil
    end
    for i = #storage.loans, 1, -1 do
      if not seen[storage.loans[i].op] then table.remove(storage.loans, i) end
    end
  end
end

-- Verdicts -------------------------------------------------------------------------------------

local function refuse(code, blamed) error({ code = code, blamed = blamed }, 0) end

local function check_state(t, via)
  local storage = t.storage
  if via and via.ended then refuse("E0382", via.ended) end
  if storage.state == "freed" then refuse("G0302", storage.at) end
  if storage.state == "partitioned" and not (via and storage.owner == via) then
    refuse("E0382", storage.at)
  end
end

local LOAN_CODES = {
  read = { write = "E0502" },
  write = { read = "E0502", write = "E0499" },
  assign = { read = "E0506", write = "E0506" },
  move = { read = "E0505", write = "E0505" },
}
LOAN_CODES.drop = LOAN_CODES.move

local function check(t, via, verb)
  local storage = t.storage
  check_state(t, via)
  if storage.frozen and verb == "move" then refuse("E0507", storage.frozen) end
  if storage.frozen and (verb == "write" or verb == "assign") then refuse("E0596", storage.frozen) end
  local takes_all = verb == "move" or verb == "drop"
  if takes_all and not is_whole(t) then refuse("E0507") end
  for i = #storage.loans, 1, -1 do
    local loan = storage.loans[i]
    local code = LOAN_CODES[verb][loan.verb]
    if code and (takes_all or overlaps(loan.tensor, t)) then refuse(code, loan.op.line) end
  end
end

function Model:launch(args)
  for i, arg in ipairs(args) do
    check(arg.tensor, arg.via, arg.verb)
    for j = 1, i - 1 do
      local other = args[j]
      local writes = (arg.verb == "write" and 1 or 0) + (other.verb == "write" and 1 or 0)
      if writes > 0 and overlaps(arg.tensor, other.tensor) then
        refuse(writes == 2 and "E0499" or "E0502", self.line)
      end
    end
  end
  local op = { kind = "op", args = args, line = self.line }
  for _, arg in ipairs(args) do
    local loans = arg.tensor.storage.loans
    loans[#loans + 1] = { op = op, tensor = arg.tensor, verb = arg.verb }
  end
  return op
end

local function run(op, line)
  if op.run then refuse("E0382", op.run) end
  op.run = line
  for _, arg in ipairs(op.args) do
    local loans = arg.tensor.storage.loans
    for i = #loans, 1, -1 do
      if loans[i].op == op then table.remove(loans, i) end
    end
  end
end

-- Statements: each returns its text and what it does to the model; nil when it does not apply ----

local statements = {}

local function statement(weight, f)
  for _ = 1, weight do statements[#statements + 1] = f end
end

-- A variable that holds such a value, and the value.
function Model:find(kind, test)
  local names = {}
  for _, name in ipairs(VARIABLES) do
    local value = self.vars[name]
    if value and value.kind == kind and (not test or test(value)) then names[#names + 1] = name end
  end
  if #names == 0 then return nil end
  local name = self:pick(names)
  return name, self.vars[name]
end

function Model:target() return self:pick(VARIABLES) end
local function is_flat(t) return t.flat end
local function is_tiled(t) return t.flat and #t.set % 4 == 0 end

statement(3, function(m)
  local to = m:target()
  return ("%s = gpu.zeros{%d}"):format(to, ELEMENTS), function() m.vars[to] = m:tensor() end
end)

statement(4, function(m)
  local from, to = m:target(), m:target()
  return ("%s = %s"):format(to, from), function() m.vars[to] = m.vars[from] end
end)

statement(3, function(m)
  local to = m:target()
  return ("%s = nil"):format(to), function() m.vars[to] = nil end
end)

statement(4, function(m)
  local name, t = m:find("tensor", is_flat)
  if not name then return end
  local to, first = m:target(), m:random(#t.set)
  local last = first + m:random(#t.set - first + 1) - 1
  if m:random(2) == 1 and #t.set >= 8 then -- launches want equal lengths
    first = m:random(#t.set - 7)
    last = first + 7
  end
  return ("%s = %s:slice{%d, %d}"):format(to, name, first, last), function()
    check_state(t)
    m.vars[to] = view(t, first, last)
  end
end)

statement(2, function(m)
  local name, t = m:find("tensor", function(t) return t.flat and is_whole(t) end)
  if not name then return end
  local to, first = m:target(), m:random(4)
  local last = first + m:random(5 - first) - 1
  return ("%s = %s:reshape{4, 4}:slice(nil, {%d, %d})"):format(to, name, first, last), function()
    check_state(t)
    m.vars[to] = columns(t, first, last)
  end
end)

statement(6, function(m)
  local name, t = m:find("tensor")
  if not name then return end
  return name .. m:pick{ ":to_bytes()", ":copy()", ":to_table()" }, function() check(t, nil, "read") end
end)

statement(2, function(m)
  local name, t = m:find("tensor", is_flat)
  if not name then return end
  return ("return %s[1]"):format(name), function() check(view(t, 1, 1), nil, "read_element", t) end
end)

statement(4, function(m)
  local name, t = m:find("tensor")
  if not name then return end
  return name .. ":fill(1)", function() check(t, nil, "assign") end
end)

statement(1, function(m)
  local name, t = m:find("tensor")
  if not name then return end
  return name .. ":sync()", function() check_state(t) end
end)

statement(2, function(m)
  local name, t = m:find("tensor")
  if not name then return end
  return name .. ":free()", function()
    if t.storage.state == "freed" then return end
    check(t, nil, "drop")
    t.storage.state, t.storage.at = "freed", m.line
  end
end)

statement(1, function(m)
  local name, t = m:find("tensor")
  if not name then return end
  return ("do local closed <close> = %s end"):format(name), function()
    if pcall(check, t, nil, "move") then t.storage.state, t.storage.at = "freed", m.line end
  end
end)

statement(1, function(m)
  local name, t = m:find("tensor")
  if not name then return end
  return name .. ":freeze()", function()
    check(t, nil, "read")
    t.storage.frozen = t.storage.frozen or m.line
  end
end)

statement(2, function(m)
  local to, a = m:find("tensor")
  if not to then return end
  local from, b = m:find("tensor", function(t) return #t.set == #a.set and t.flat == a.flat end)
  return ("%s:copy_from(%s)"):format(to, from), function()
    check(b, nil, "read")
    check(a, nil, "assign")
    if overlaps(a, b) then refuse("E0502", m.line) end
  end
end)

-- Partitions

local function cut(m, t)
  check(t, nil, "move")
  local p = { kind = "partition", tensor = t, moved = true }
  t.storage.state, t.storage.at, t.storage.owner = "partitioned", m.line, p
  return p
end

statement(3, function(m)
  local name, t = m:find("tensor", is_flat)
  if not name then return end
  local to = m:target()
  return ("%s = %s:partition{4}"):format(to, name), function() m.vars[to] = cut(m, t) end
end)

statement(1, function(m)
  local name, t = m:find("tensor", is_flat)
  if not name then return end
  return name .. ":partition{4}", function() cut(m, t) end
end)

statement(2, function(m)
  local name, t = m:find("tensor", is_flat)
  if not name then return end
  local to = m:target()
  return ("%s = %s:tiles{4}"):format(to, name), function()
    check_state(t)
    m.vars[to] = { kind = "partition", tensor = t }
  end
end)

statement(3, function(m)
  local name, p = m:find("partition")
  if not name then return end
  local to = m:target()
  return ("%s = %s:unpartition()"):format(to, name), function()
    check(p.tensor, p, p.moved and "drop_moved" or "read")
    if p.moved then p.tensor.storage.state, p.tensor.storage.owner = "owned", nil end
    p.ended = m.line
    m.vars[to] = p.tensor
  end
end)

-- Launches: `double` reads one tensor and writes another of its length, `add` writes tiles.

local function double(m)
  local x, from = m:find("tensor", is_flat)
  if not x then return end
  local z, into = m:find("tensor", function(t) return t.flat and #t.set <= #from.set end)
  return ("k.double(%s, %s)"):format(x, z), function()
    return m:launch{ { tensor = from, verb = "read" }, { tensor = into, verb = "write" } }
  end
end

local function add(m)
  local name, p = m:find("partition")
  local tiles = name
  if not name or m:random(2) == 1 then
    local z, t = m:find("tensor", is_tiled)
    if not z then return end
    tiles, p = z .. ":tiles{4}", { kind = "partition", tensor = t, fresh = true }
  end
  local like = function(t) return t.flat and #t.set == #p.tensor.set end
  local x, a = m:find("tensor", like)
  local y, b = m:find("tensor", like)
  if not x or #p.tensor.set % 4 ~= 0 then return end
  return ("k.add(%s, %s, %s)"):format(tiles, x, y), function()
    if p.fresh then check_state(p.tensor) end
    return m:launch{
      { tensor = p.tensor, via = p, verb = "write" },
      { tensor = a, verb = "read" },
      { tensor = b, verb = "read" },
    }
  end
end

statement(9, function(m)
  local text, make = m:pick{ double, add }(m)
  if not text then return end
  local to, how = m:target(), m:random(4)
  if how == 1 then
    return text, make -- dropped: the next collection returns its loans
  elseif how == 2 then
    return text .. ":sync()", function() run(make(), m.line) end
  end
  return ("%s = %s"):format(to, text), function() m.vars[to] = make() end
end)

statement(6, function(m)
  local name, op = m:find("op")
  if not name then return end
  if m:random(3) == 1 then
    return name .. ":sync()", function()
      if not op.run then run(op, m.line) end
    end
  end
  return name .. m:pick{ ":run()", ":run(s)" }, function() run(op, m.line) end
end)

-- Coroutines: one that is suspended holds what it was given.

statement(2, function(m)
  local from, to = m:target(), m:target()
  return ("%s = hold(%s)"):format(to, from), function()
    m.vars[to] = { kind = "coroutine", held = m.vars[from] }
  end
end)

statement(2, function(m)
  local name, co = m:find("coroutine", function(co) return not co.done end)
  if not name then return end
  local to = m:target()
  return ("%s = %s()"):format(to, name), function()
    m.vars[to], co.held, co.done = co.held, nil, true
  end
end)

statement(1, function() return "collectgarbage()", function() end end)

-- A read of one element is a read of the tensor; ending a partition by its handle takes all of it
-- though it may cover a part, and freezing does not hinder it.
local plain_check = check
function check(t, via, verb, whole)
  if verb == "read_element" then return plain_check(whole, via, "read") end
  if verb ~= "drop_moved" then return plain_check(t, via, verb) end
  check_state(t, via)
  local loans = t.storage.loans
  if #loans > 0 then refuse("E0505", loans[#loans].op.line) end
end

-- Scripts ----------------------------------------------------------------------------------------

local HEADER = "local gpu, k, S, hold, s = ... local a, b, c, d, e, p, q, o, u, w local t = {}"

-- A script of `count` statements, one a line, and the verdicts it must get: {line, code, blamed}.
function model.script(seed, count)
  local m = model.new(seed)
  local lines, verdicts = { HEADER }, {}
  for _, name in ipairs{ "a", "b", "c" } do
    m.line = #lines + 1
    lines[m.line] = ("S(function() %s = gpu.zeros{%d} end)"):format(name, ELEMENTS)
    m.vars[name] = m:tensor()
    verdicts[#verdicts + 1] = { line = m.line, code = "ok" }
  end
  while #verdicts < count do
    local text, act = m:pick(statements)(m)
    if text then
      m.line = #lines + 1
      lines[m.line] = ("S(function() %s end)"):format(text)
      m:collect()
      local ok, err = pcall(act)
      if not ok and type(err) ~= "table" then error(err, 0) end
      verdicts[#verdicts + 1] =
        { line = m.line, code = ok and "ok" or err.code, blamed = not ok and err.blamed or nil }
    end
  end
  return table.concat(lines, "\n"), verdicts
end

return model
