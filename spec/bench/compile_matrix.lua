-- Cold compile of a matrix product and of attention: from source to loaded module, in a process that
-- has compiled before and without any cache, against the driver's compile of the same PTX alone.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local attention = require "attention_source"
local bench = require "bench"
local gpu = require "gpulua"
local gemm = require "gemm_source"

-- The caches are read when a program starts, and the driver's would hide its compiler.
if not (os.getenv "GPULUA_CACHE" == "" and os.getenv "CUDA_CACHE_DISABLE" == "1") then
  local parts = { "exec env GPULUA_CACHE= CUDA_CACHE_DISABLE=1", bench.program, bench.quote(arg[0]) }
  for _, word in ipairs(arg) do parts[#parts + 1] = bench.quote(word) end
  os.exit(os.execute(table.concat(parts, " ")) or false, true)
end

local REPEATS = bench.option("rounds", 7)

-- A kernel of its own for each number: its name, source, options and arguments.
local function gemm_kernel(number)
  local name, n = "gemm_" .. number, 256
  local a, b, c = gpu.zeros({ n, n }, "bf16"), gpu.zeros({ n, n }, "bf16"), gpu.empty({ n, n }, "bf16")
  return name, gemm("plain", name), { BK = 64 }, { c:tiles { 128, bench.option("tile", 256) }, a, b }
end

local function attention_kernel(number)
  local name, shape = "attention_" .. number, { 1, 256, 128 }
  local q, o = gpu.zeros(shape, "bf16"), gpu.empty(shape, "bf16")
  return name, attention.source("full", name), { N = 16 }, { o:permute({ 2, 1, 3 }):tiles { 128, 1, 128 }, q, q, q, 1 }
end

local function measure(what, make, number)
  local path, is_gpu = bench.scratch() .. "/" .. what .. ".ptx", gpu.device().kind == "cuda"
  local last
  local function ours()
    number = number + 1
    local name, source, options, args = make(number)
    local before = gpu.compile_stats()
    local from = gpu.clock()
    last = gpu.kernels(source, name)[name]:with(options)
    last:info(table.unpack(args))
    local seconds = gpu.clock() - from
    if gpu.compile_stats().compiled ~= before.compiled + 1 then error("the kernel was not compiled anew", 0) end
    return seconds
  end
  local function driver()
    local file = assert(io.open(path, "w"))
    file:write(last:inspect "ptx")
    file:close()
    return (bench.c():ask("ptx", path))
  end
  local arms = { { "ours", ours } }
  if is_gpu then arms[2] = { "driver", driver } end
  local r = bench.alternate(REPEATS, arms)
  local peer = r.driver or {}
  bench.emit({
    row = ("compile_%s%s"):format(what, is_gpu and "" or "_cpu"), unit = "ms", value = r.ours.median * 1e3,
    best = r.ours.min * 1e3, ratio = bench.ratio(r.ours, r.driver),
    peer = is_gpu and "the driver's compile of its PTX alone" or nil,
    peer_value = peer.median and peer.median * 1e3, peer_error = peer.error,
  }, is_gpu and { 1.8, 1.2, "lower" } or nil)
end

bench.main("compile_matrix", function()
  assert(gpu.device(bench.option("device", os.getenv "GPULUA_DEVICE" or "cuda:0")))
  local first = os.time() % 800 * 1000
  for i, kind in ipairs { { "gemm", gemm_kernel }, { "attention", attention_kernel } } do
    bench.row("compile_" .. kind[1], function() measure(kind[1], kind[2], first + 100 * i) end)
  end
end)
