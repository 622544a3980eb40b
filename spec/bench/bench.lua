-- What the rows of spec/bench share: options, peers, alternation, checks, the JSON line.
--
-- A row is a script; `gpulua spec/bench/ROW.lua [--device D] [--n N] [--rounds N]` prints one JSON
-- object a line. A figure counts as a ratio to its peer, measured in turns with it (A B A B) in the
-- same run. A peer that is not there leaves its part of the row out, and the row says why.
local gpu = require "gpulua"

local bench = { options = {}, folder = arg[0]:match("^(.*)/[^/]*$") or "." }

-- The program that runs this script, quoted for the shell.
function bench.quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end
do
  local least = 0
  while arg[least - 1] do least = least - 1 end
  bench.program = bench.quote(arg[least])
end

do
  local i = 1
  while arg[i] do
    local name = assert(arg[i]:match("^%-%-(%a+)$"), "unexpected argument " .. arg[i])
    if name == "driven" then
      bench.options.driven = true
    else
      i = i + 1
      bench.options[name] = assert(arg[i], "--" .. name .. " wants a value")
    end
    i = i + 1
  end
end

function bench.option(name, preset)
  local value = bench.options[name]
  if value == nil then return preset end
  return type(preset) == "number" and math.tointeger(tonumber(value)) or value
end

-- ---- JSON ----------------------------------------------------------------------------------------

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r" }

local function escape(c) return ESCAPES[c] or ("\\u%04x"):format(c:byte()) end

-- Numbers keep six significant digits; keys are sorted, `row` first.
function bench.json(v)
  if type(v) == "string" then return '"' .. v:gsub('[%c"\\]', escape) .. '"' end
  if type(v) ~= "table" then
    if math.type(v) ~= "float" then return tostring(v) end
    if v ~= v or v == math.huge or v == -math.huge then return "null" end
    return ("%.6g"):format(v)
  end
  local parts = {}
  if #v > 0 then
    for i, item in ipairs(v) do parts[i] = bench.json(item) end
    return "[" .. table.concat(parts, ", ") .. "]"
  end
  local keys = {}
  for key in pairs(v) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    if (a == "row") ~= (b == "row") then return a == "row" end
    return a < b
  end)
  for i, key in ipairs(keys) do parts[i] = bench.json(key) .. ": " .. bench.json(v[key]) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- ---- Peers ---------------------------------------------------------------------------------------

-- A peer answers each line with one line, "ok VALUE.." or "error MESSAGE".
local Peer = {}
Peer.__index = Peer

function Peer:ask(...)
  if self.is_gone then error(self.name .. " ended before", 0) end
  local words = { ... }
  for i, word in ipairs(words) do words[i] = tostring(word) end
  self.to:write(self.mark, table.concat(words, " "), "\n")
  self.to:flush()
  local line = self.from:read("l")
  if not line then
    self.is_gone = true
    error(self.name .. " ended while it was asked for " .. words[1], 0)
  end
  local status, rest = line:match("^(%S+) ?(.*)$")
  if status ~= "ok" then error(self.name .. ": " .. tostring(rest or line), 0) end
  local values = {}
  for word in rest:gmatch("%S+") do values[#values + 1] = tonumber(word) or word end
  return table.unpack(values)
end

-- A fresh folder for files of this run, removed at the end.
function bench.scratch()
  if not bench.scratch_folder then
    local pipe = assert(io.popen("mktemp -d"))
    bench.scratch_folder = assert(pipe:read("l"), "mktemp failed")
    pipe:close()
  end
  return bench.scratch_folder
end

-- Starts a command as a peer: Lua's pipes have one direction, so its answers come through a FIFO. It
-- says "ok" first; one that did not start is never written to, which would end this process.
local function start(name, command)
  local fifo = bench.scratch() .. "/" .. name
  assert(os.execute("mkfifo " .. bench.quote(fifo)))
  local to = assert(io.popen("exec " .. command .. " >" .. bench.quote(fifo), "w"))
  to:setvbuf("full")
  local peer = setmetatable({ name = name, to = to, from = assert(io.open(fifo)), mark = "" }, Peer)
  peer.is_gone = not peer.from:read("l")
  return peer
end

-- The peers in C; GPULUA_BENCH_PEERS names a program that was built before.
function bench.c_program()
  local built = os.getenv("GPULUA_BENCH_PEERS")
  if built then return bench.quote(built) end
  local made = bench.scratch() .. "/peers-c"
  local command = "%s -std=gnu11 -O3 -march=native -o %s %s -lpthread -ldl -lm 2>&1"
  for _, cc in ipairs { os.getenv("CC") or "gcc", "cc" } do
    local pipe = io.popen(command:format(cc, bench.quote(made), bench.quote(bench.folder .. "/peers.c")))
    local said = pipe:read("a")
    if pipe:close() then return bench.quote(made) end
    bench.compiler_said = said
  end
  error("peers.c was not compiled: " .. tostring(bench.compiler_said):sub(1, 200), 0)
end

local started = {}

-- The peers in C as a process that answers.
function bench.c()
  if not started.c then started.c = start("c", bench.c_program() .. " serve") end
  return started.c
end

-- The peers in Python: who drives this script with --driven, else a process of our own.
function bench.python()
  if not started.python then
    if bench.options.driven then
      started.python = setmetatable({ name = "python", to = io.stdout, from = io.stdin, mark = "? " }, Peer)
    else
      local python = os.getenv("PYTHON") or "python3"
      started.python = start("python", python .. " " .. bench.quote(bench.folder .. "/driver.py") .. " --serve")
    end
  end
  return started.python
end

local function stop()
  for name, peer in pairs(started) do
    if not (name == "python" and bench.options.driven) then
      peer.to:close()
      peer.from:close()
    end
  end
  if bench.scratch_folder then os.execute("rm -rf " .. bench.quote(bench.scratch_folder)) end
end

-- Keeps this process, and the peers that it starts from now on, to the core that it runs on: cores differ
-- in speed and in their way to the device. Gives the core's number; nil where there is no taskset.
function bench.pin()
  local file = io.open "/proc/self/stat"
  if not file then return nil end
  local pid, rest = file:read("a"):match("^(%d+) %(.*%) (.*)$") -- fields 1 to 3 of proc(5), then
  file:close()
  local core = rest:match("^" .. ("%S+ "):rep(36) .. "(%d+)") -- field 39
  return os.execute(("taskset -cp %s %s >/dev/null 2>&1"):format(core, pid)) and tonumber(core) or nil
end

-- ---- Measuring -----------------------------------------------------------------------------------

function bench.median(values)
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  local middle = #sorted // 2
  if #sorted % 2 == 1 then return sorted[middle + 1] end
  return (sorted[middle] + sorted[middle + 1]) / 2
end

-- Runs the arms {{name, f}, ..} in turns; f returns a time. Gives {name = {median, min, max,
-- values}}; an arm that fails has {error} instead, and the others go on. The first arm is ours: its
-- error is raised.
function bench.alternate(rounds, arms)
  local results = {}
  for _, arm in ipairs(arms) do results[arm[1]] = { values = {} } end
  for round = 0, rounds do
    for i, arm in ipairs(arms) do
      local result = results[arm[1]]
      if not result.error then
        local ok, value = pcall(arm[2])
        if not ok and i == 1 then error(value, 0) end
        if not ok then result.error = tostring(value)
        elseif round > 0 then result.values[round] = value end -- round 0 warms up
      end
    end
  end
  for name, result in pairs(results) do
    if result.error then
      results[name] = { error = result.error }
    else
      result.median = bench.median(result.values)
      result.min, result.max = math.min(table.unpack(result.values)), math.max(table.unpack(result.values))
    end
  end
  return results
end

-- The median over rounds of a / b, each pair measured back to back; nil when one has no values.
function bench.ratio(a, b)
  if not (a and b and a.values and b.values) then return nil end
  local ratios = {}
  for i, value in ipairs(a.values) do ratios[i] = value / b.values[i] end
  return bench.median(ratios)
end

-- Seconds per call over `count` calls enqueued back to back, ended by one wait.
function bench.batch(f, count)
  local from = gpu.clock()
  for _ = 1, count do f() end
  gpu.sync()
  return (gpu.clock() - from) / count
end

-- How many calls of f fill `seconds`.
function bench.count_for(f, seconds)
  bench.batch(f, 1)
  local count = 1
  while true do
    local spent = bench.batch(f, count) * count
    if spent >= seconds / 2 or count >= 1 << 24 then
      return math.max(1, math.ceil(count * seconds / spent))
    end
    count = count * 2
  end
end

-- Windows of `seconds` in which an arm {name, f} runs without a pause, all arms in random order, so
-- many times as there are repetitions; f(count) gives the seconds a call. Results as alternate's.
function bench.sustain(arms, seconds, repetitions)
  seconds, repetitions = seconds or bench.option("seconds", 0.5), repetitions or bench.option("rounds", 5)
  local results, turns = {}, {}
  for i, arm in ipairs(arms) do
    local ok, count = pcall(function()
      arm[2](2)
      local once = arm[2](3)
      return math.max(1, math.ceil(seconds / arm[2](math.max(3, math.ceil(0.1 * seconds / once)))))
    end)
    if not ok and i == 1 then error(count, 0) end
    results[arm[1]] = ok and { values = {}, count = count } or { error = tostring(count) }
    if ok then turns[#turns + 1] = arm end
  end
  for _ = 1, repetitions do
    for i = #turns, 2, -1 do
      local j = math.random(i)
      turns[i], turns[j] = turns[j], turns[i]
    end
    for _, arm in ipairs(turns) do
      local result = results[arm[1]]
      result.values[#result.values + 1] = arm[2](result.count)
    end
  end
  for _, result in pairs(results) do
    if result.values then result.median = bench.median(result.values) end
  end
  return results
end

-- The fastest of the arms {word, f}, and {word = seconds a call, or why it did not run}. Those that are about as
-- fast in bursts are told apart in windows, where power counts as it will when they are measured.
function bench.choose(arms)
  local least, tried, close = math.huge, {}, {}
  for _, arm in ipairs(arms) do
    local ok, got = pcall(function()
      local count = bench.count_for(arm[2], 0.05)
      local seconds = {}
      for i = 1, 3 do seconds[i] = bench.batch(arm[2], count) end
      return bench.median(seconds)
    end)
    tried[arm[1]] = ok and got or tostring(got):match("[^\n]*")
    if ok then least = math.min(least, got) end
  end
  for _, arm in ipairs(arms) do
    if type(tried[arm[1]]) == "number" and tried[arm[1]] <= 1.06 * least then
      close[#close + 1] = { arm[1], function(count) return bench.batch(arm[2], count) end, arm }
    end
  end
  if #close == 0 then error("nothing ran: " .. bench.json(tried), 0) end
  local best = close[1]
  local r = #close > 1 and bench.sustain(close, 0.1, 3)
  for _, one in ipairs(close) do
    if r and r[one[1]].median < r[best[1]].median then best = one end
  end
  return best[3], tried
end

-- Seconds of a kernel and of its twin: they differ by less than windows do, and by less than copies of one of them
-- under another name (up to 1 %), so that there are two of either, {ours, ours again, twin, twin again}, in many short
-- windows of these alone.
function bench.twins(calls)
  local arms = {}
  for i, call in ipairs(calls) do
    arms[i] = { tostring(i), function(count) return bench.batch(call, count) end }
  end
  local r = bench.sustain(arms, 0.2, 15)
  return { ours = (r["1"].median + r["2"].median) / 2, twin = (r["3"].median + r["4"].median) / 2 }
end

-- The ratio of medians, a / b; nil when one has none.
function bench.over(a, b) return a.median and b.median and a.median / b.median end

-- ---- Data ----------------------------------------------------------------------------------------

-- Normal values, n or of a shape, that repeat with a period; a prime one never falls in step with tiles.
function bench.normal(shape, period, dtype)
  local n = shape
  if type(shape) == "table" then
    n = 1
    for _, extent in ipairs(shape) do n = n * extent end
  end
  local t = gpu.empty({ n }, dtype)
  local have = math.min(period, n)
  t:slice({ 1, have }):copy_from(gpu.randn({ have }, dtype))
  while have < n do
    local more = math.min(have, n - have)
    t:slice({ have + 1, have + more }):copy_from(t:slice { 1, more })
    have = have + more
  end
  return type(shape) == "table" and t:reshape(shape) or t
end

local function floats(t, from, count)
  return { string.unpack("<" .. ("f"):rep(count), t:slice({ from, from + count - 1 }):to_bytes()) }
end

-- Compares runs of z, f32, with f over the inputs' values, computed in double and rounded once:
-- the first and the last elements and `samples` runs at random places. Raises what is wrong.
function bench.check_samples(z, inputs, f, samples)
  local n, run = z.numel, 200
  for sample = 1, samples do
    local count = math.min(run, n)
    local from = sample == 1 and 1 or sample == 2 and n - count + 1 or math.random(1, n - count + 1)
    local got, given = floats(z, from, count), {}
    for k, input in ipairs(inputs) do given[k] = floats(input, from, count) end
    for i = 1, count do
      local values = {}
      for k = 1, #inputs do values[k] = given[k][i] end
      local want = string.unpack("<f", string.pack("<f", f(table.unpack(values))))
      if got[i] ~= want then
        error(("element %d is %.9g, the float64 reference gives %.9g"):format(from + i - 1, got[i], want), 0)
      end
    end
  end
end

-- Raises where a u8 tensor holds 1: a checking kernel stored 0 for each right element, 1 for a wrong one.
function bench.check_flags(bad)
  local at = bad:to_bytes():find("\1", 1, true)
  if at then error(("element %d is wrong"):format(at - 1), 0) end
end

-- ---- Rows ----------------------------------------------------------------------------------------

-- Marks a row: `bar` is {now, goal, "higher" or "lower"} of `figure`.
local function judge(row, bar, figure)
  if not bar or not figure then return end
  local better = bar[3] == "higher" and function(a, b) return a >= b end or function(a, b) return a <= b end
  row.bar = { now = bar[1], goal = bar[2], better = bar[3] }
  row.met = better(figure, bar[2]) and "goal" or better(figure, bar[1]) and "now" or "no"
end

-- Prints a row. `bar_on` names the field that the bar is for, `ratio` unless said.
function bench.emit(row, bar, bar_on)
  local device = not row.no_device and gpu.device()
  row.no_device = nil
  if device then
    row.device = device.product or device.name
    row.on = device.name
    row.driver = device.kind == "cuda" and device.driver or nil
  end
  judge(row, bar, row[bar_on or "ratio"])
  print(bench.json(row))
  io.stdout:flush()
end

-- Runs f, which emits a row of a script with several; what it raises becomes that row's error, and the
-- others go on.
function bench.row(name, f)
  local ok, err = xpcall(f, tostring)
  if ok then return end
  print(bench.json { row = name, error = tostring(err) })
  io.stdout:flush()
  bench.has_failed = true
end

-- Runs f, which emits rows; what it raises becomes an error row, and the exit status 1.
function bench.main(name, f)
  io.stdout:setvbuf("line")
  local ok, err = xpcall(function()
    local device = bench.options.device
    if device then assert(gpu.device(device)) end
    f()
  end, tostring)
  if not ok then
    print(bench.json { row = name, error = tostring(err) })
    io.stdout:flush()
  end
  stop()
  os.exit(ok and not bench.has_failed, true)
end

return bench
