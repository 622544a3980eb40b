-- First device use: opening the first GPU in a fresh process, against cuInit and the primary context
-- in C, also in a fresh process.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"

local DEVICE = bench.option("device", "cuda:0")

-- Numbers that a command prints on one line.
local function numbers(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local line = pipe:read("a")
  local ok = pipe:close()
  local found = {}
  for word in line:gmatch("%S+") do found[#found + 1] = tonumber(word) end
  if not ok or #found == 0 then error("no figure: " .. line:sub(1, 200), 0) end
  return table.unpack(found)
end

-- In the fresh process: seconds to the device, and to the first tensor written and waited for.
if bench.option("child") then
  local from = gpu.clock()
  assert(gpu.device(DEVICE))
  local opened = gpu.clock() - from
  gpu.ones { 1 }:sync()
  print(opened, gpu.clock() - from)
  os.exit(true, true)
end

bench.main("device", function()
  local script = ("%s %s --child 1 --device %s"):format(bench.program, bench.quote(arg[0]), DEVICE)
  local c = bench.c_program() .. " init"
  local first_tensor, init, context = {}, {}, {}
  local r = bench.alternate(bench.option("rounds", 7), {
    { "ours", function()
      local opened, first = numbers(script)
      first_tensor[#first_tensor + 1] = first
      return opened
    end },
    { "peer", function()
      local a, b = numbers(c)
      init[#init + 1], context[#context + 1] = a, b
      return a + b
    end },
  })
  local has_peer = r.peer.median
  bench.emit({
    row = "device", on = DEVICE, no_device = true, value = r.ours.median * 1e3, unit = "ms", best = r.ours.min * 1e3,
    first_tensor = bench.median(first_tensor) * 1e3,
    ratio = bench.ratio(r.ours, r.peer), peer = "dlopen, cuInit and primary context in C",
    peer_value = has_peer and has_peer * 1e3, peer_error = r.peer.error,
    peer_init = has_peer and bench.median(init) * 1e3, peer_context = has_peer and bench.median(context) * 1e3,
  }, { 1.1, 1.02, "lower" })
end)
