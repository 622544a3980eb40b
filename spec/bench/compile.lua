-- Cold compile of a simple kernel: from its source to the loaded module, in a process that has
-- compiled before; with and without a library function; without any cache, and from the disk cache.
-- Against the driver's compile of the same PTX alone; NVRTC and Triton for context. Milliseconds.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"

-- The kernels; a number of its own makes each compile a new one.
local KERNELS = {
  { name = "tile_add", source = [[
    #[tile]
    fn %s<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
        z.store(x.load_like(z) * %s + y.load_like(z));
    }
  ]] },
  { name = "tile_exp", source = [[
    #[tile]
    fn %s<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
        z.store(exp(x.load_like(z) * %s) + y.load_like(z));
    }
  ]] },
  { name = "simt_add", source = [[
    #[kernel]
    fn %s(x: &[f32], y: &[f32], mut z: DisjointSlice<f32>) {
        let idx = thread::index_1d();
        let i = idx.get();
        if let Some(out) = z.get_mut(idx) { *out = x[i] * %s + y[i]; }
    }
  ]] },
}

local REPEATS = bench.option("rounds", 9)

-- A process of its own for each state of the caches, which are read when a program starts. The
-- driver's cache would hide its compiler.
local function with_environment(variables, options)
  local parts = { "env" }
  for _, variable in ipairs(variables) do parts[#parts + 1] = bench.quote(variable) end
  parts[#parts + 1] = bench.program
  parts[#parts + 1] = bench.quote(arg[0])
  for _, word in ipairs(options) do parts[#parts + 1] = bench.quote(word) end
  return table.concat(parts, " ")
end

if not bench.option("child") and not (os.getenv "GPULUA_CACHE" == "" and os.getenv "CUDA_CACHE_DISABLE" == "1") then
  local ok = os.execute("exec " .. with_environment({ "GPULUA_CACHE=", "CUDA_CACHE_DISABLE=1" }, arg))
  os.exit(ok or false, true)
end

local x, y, z -- what the kernels are bound to

local function bind()
  assert(gpu.device(bench.option("device", os.getenv "GPULUA_DEVICE" or "cuda:0")))
  x, y, z = gpu.randn { 1024 }, gpu.randn { 1024 }, gpu.empty { 1024 }
end

local function source_of(kernel, number)
  local name = ("%s_%d"):format(kernel.name, number)
  return kernel.source:format(name, ("1.%06d"):format(number % 1000000)), name
end

-- Compiles kernel `number`: the seconds of all, and of its parts.
local function compile(kernel, number)
  local source, name = source_of(kernel, number)
  local is_tile = kernel.name:find("^tile")
  local before = gpu.compile_stats()
  local part = is_tile and z:tiles { 256 }
  local from = gpu.clock()
  local module = gpu.kernels(source, name)
  local defined = gpu.clock()
  local k = module[name]
  local op = is_tile and k(part, x, y) or k(x, y, z)
  local done = gpu.clock()
  local after = gpu.compile_stats()
  op:sync() -- an op that is never run would keep its arguments
  return {
    all = done - from, definition = defined - from, build = after.seconds - before.seconds,
    compiled = after.compiled - before.compiled, from_disk = after.from_disk - before.from_disk,
    kernel = k, name = name,
  }
end

-- The kernel computes what its source says, by the reference in f64.
local function check(kernel, made, number)
  z:fill(0 / 0)
  if kernel.name:find("^tile") then made.kernel(z:tiles { 256 }, x, y):sync() else made.kernel(x, y, z):sync() end
  local c = string.unpack("<f", string.pack("<f", 1 + number % 1000000 * 1e-6))
  for i = 1, 1024, 37 do
    local want = kernel.name == "tile_exp" and math.exp(c * x[i]) + y[i] or c * x[i] + y[i]
    local scale = (kernel.name == "tile_exp" and math.exp(c * x[i]) or math.abs(c * x[i])) + math.abs(y[i])
    local off = math.abs(z[i] - want)
    if off > 2e-6 * scale or off ~= off then
      error(("%s: element %d is %.9g, the float64 reference gives %.9g"):format(kernel.name, i - 1, z[i], want), 0)
    end
  end
end

-- In a process of its own: the median and the least time of compiling kernels 1.. of one name, and
-- how many came from the disk cache.
if bench.option("child") then
  bind()
  local kernel = KERNELS[tonumber(bench.option("child"))]
  local first = tonumber(bench.option("first"))
  compile(KERNELS[3], first + 999)
  local times, definitions, from_disk = {}, {}, 0
  for i = 1, REPEATS do
    local made = compile(kernel, first + i)
    if i == 1 then check(kernel, made, first + i) end
    times[i], definitions[i], from_disk = made.all, made.definition, from_disk + made.from_disk
  end
  print(bench.median(times), math.min(table.unpack(times)), bench.median(definitions), from_disk)
  os.exit(true, true)
end

local function numbers(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read("a")
  local found = {}
  for word in text:gmatch("%S+") do found[#found + 1] = tonumber(word) end
  if not pipe:close() or #found == 0 then error("no figure: " .. text:sub(1, 200), 0) end
  return table.unpack(found)
end

local function milli(r) return r and r.median and r.median * 1e3 end

-- The time to compile kernels anew, in turns with the driver, which compiles what we made for it.
local function measure_cold(kernel, first)
  local is_gpu = gpu.device().kind == "cuda"
  local stage = is_gpu and "ptx" or "asm"
  local number, parts, last = first, { definition = {}, build = {}, text = {} }, nil
  local path = bench.scratch() .. "/kernel.ptx"
  local function ours()
    number = number + 1
    last = compile(kernel, number)
    if last.compiled ~= 1 then error("the kernel was not compiled anew", 0) end
    table.insert(parts.definition, last.definition)
    table.insert(parts.build, last.build)
    if number == first + 1 then check(kernel, last, number) end
    return last.all
  end
  local function text_alone()
    local from = gpu.clock()
    local text = last.kernel:inspect(stage)
    local seconds = gpu.clock() - from
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    return seconds
  end
  local arms = { { "ours", ours }, { "text", text_alone } }
  if is_gpu then
    arms[3] = { "driver", function() return (bench.c():ask("ptx", path)) end }
    if kernel.name ~= "tile_exp" then
      arms[4] = { "nvrtc", function() return (bench.python():ask("nvrtc", number)) end }
    end
  end
  local r = bench.alternate(REPEATS, arms)
  local row = {
    row = ("compile_%s%s"):format(kernel.name, is_gpu and "" or "_cpu"), unit = "ms",
    value = milli(r.ours), best = r.ours.min * 1e3,
    definition = bench.median(parts.definition) * 1e3, build = bench.median(parts.build) * 1e3,
    text_alone = milli(r.text), text_stage = stage, text_error = r.text.error,
  }
  if is_gpu then
    row.peer, row.peer_value, row.peer_error = "the driver's compile of its PTX alone", milli(r.driver), r.driver.error
    row.ratio = bench.ratio(r.ours, r.driver)
    row.nvrtc, row.nvrtc_error = milli(r.nvrtc), r.nvrtc and r.nvrtc.error
  end
  bench.emit(row, is_gpu and { 40, 15, "lower" } or { 30, 10, "lower" }, "value")
end

-- The same kernels in processes that start with the disk cache filled, with the driver's own cache
-- as it is by default, and without it.
local function measure_disk(index, kernel, first)
  local cache, driver_cache = bench.scratch() .. "/cache", bench.scratch() .. "/driver"
  os.execute(("mkdir -p %s %s"):format(bench.quote(cache), bench.quote(driver_cache)))
  local options = { "--child", index, "--first", first, "--device", gpu.device().name, "--rounds", REPEATS }
  for i, word in ipairs(options) do options[i] = tostring(word) end
  local ours = "GPULUA_CACHE=" .. cache
  local usual = with_environment({ ours, "CUDA_CACHE_DISABLE=0", "CUDA_CACHE_PATH=" .. driver_cache }, options)
  local alone = with_environment({ ours, "CUDA_CACHE_DISABLE=1" }, options)
  numbers(usual)
  local median, least, definition, from_disk = numbers(usual)
  if from_disk ~= REPEATS then error(("%d of %d came from the disk cache"):format(from_disk, REPEATS), 0) end
  local without = numbers(alone)
  bench.emit({
    row = "compile_disk_" .. kernel.name, unit = "ms", value = median * 1e3, best = least * 1e3,
    definition = definition * 1e3, without_driver_cache = without * 1e3,
  }, { 3, 1, "lower" }, "value")
end

bench.main("compile", function()
  bind()
  local first = os.time() % 800 * 1000
  local is_gpu = gpu.device().kind == "cuda"
  local started = gpu.clock()
  compile(KERNELS[3], first)
  local first_of_process = gpu.clock() - started
  local failures = {}
  local function try(f, ...)
    local ok, err = pcall(f, ...)
    if not ok then failures[#failures + 1] = tostring(err) end
  end
  for i, kernel in ipairs(KERNELS) do try(measure_cold, kernel, first + 20 * i) end
  if is_gpu then
    for i = 1, 2 do try(measure_disk, i, KERNELS[i], first + 20 * i + 100000) end
    local ok, triton = pcall(function() return (bench.python():ask("triton_compile")) end)
    bench.emit {
      row = "compile_others", unit = "ms", value = first_of_process * 1e3, what = "the first compile of the process",
      triton = ok and triton * 1e3 or nil, triton_error = not ok and triton or nil,
    }
  end
  if #failures > 0 then error(table.concat(failures, "; "), 0) end
end)
