-- Whole processes: drivers that are missing or odd, memory that ends, stock Lua, threads of
-- nothing lost at the end.
local sh = require "spec.support.sh"

local build = sh.build()
local program = build:sub(1, 1) == "/" and build .. "/gpulua" or sh.root .. "/" .. build .. "/gpulua"

-- Runs a script in a program; its output and status. A crash is a status above 127.
local function run(environment, script, lua)
  local path = os.tmpname()
  sh.write(path, script)
  local output, status = sh.run(("%s %s %s"):format(environment, sh.quote(lua or program), path))
  os.remove(path)
  return output:gsub(path:gsub("%p", "%%%0"), "script.lua"), status
end

local function count(text, what)
  local n, at = 0, 1
  while true do
    local _, last = text:find(what, at, true)
    if not last then return n end
    n, at = n + 1, last + 1
  end
end

local ADD = [[
  local gpu = require "gpulua"
  local k = gpu.kernels "#[kernel] fn f(x: &[f32], mut z: DisjointSlice<f32>) { let i = thread::index_1d(); let n = i.get(); if let Some(o) = z.get_mut(i) { *o = x[n] + 1.0; } }"
  local z = gpu.zeros { 3 }
  k.f(gpu.arange(3), z):sync()
  print(z)
]]

describe("without a driver", function()
  local environment = "GPULUA_LIBCUDA=/nonexistent/libcuda.so GPULUA_CACHE= "

  it("a script runs on the CPU, and is told so once", function()
    local output, status = run(environment .. "GPULUA_DEVICE=auto", ADD)
    assert.are.equal(0, status)
    assert(output:find("tensor{3} f32 cpu  [1, 2, 3]", 1, true), output)
    assert.are.equal(1, count(output, "gpulua: no usable GPU (no CUDA driver found: "), output)
    assert.are.equal(1, count(output, "running on the CPU"), output)
  end)

  it("GPULUA_DEVICE is answered with the choices there are", function()
    local output, status = run(environment .. "GPULUA_DEVICE=foo", ADD)
    assert.are.equal(1, status)
    assert(output:find("error[G0912]: unknown device `foo`", 1, true), output)
    assert(output:find("GPULUA_DEVICE names it", 1, true), output)
    assert(output:find("devices are `cpu`", 1, true), output)
    output = run(environment .. "GPULUA_DEVICE=cuda:0", ADD)
    assert(output:find("error[G0901]", 1, true), output)
    assert(output:find("install the NVIDIA driver", 1, true), output)
  end)

  it("GPULUA_THREADS is a number", function()
    for _, value in ipairs { "abc", "4x", "0", "-1", "1025", "99999999999999999999" } do
      local output, status = run(environment .. "GPULUA_DEVICE=cpu GPULUA_THREADS=" .. value, ADD)
      assert.are.equal(1, status)
      local title = ("error[G0917]: GPULUA_THREADS is `%s`, not a number from 1 to 1024\n"):format(value)
      assert(output:find(title, 1, true), output)
    end
    for _, value in ipairs { "", "1", "3", "1024" } do
      local output, status = run(environment .. "GPULUA_DEVICE=cpu GPULUA_THREADS=" .. value, ADD)
      assert.are.equal(0, status, output)
    end
  end)

  it("asking for a GPU is an error that says why", function()
    local output, status = run(environment, [[
      local gpu = require "gpulua"
      local d, err = gpu.device "cuda:0"
      print(d, err.code, type(err:render()))
      print(gpu.gpus())
      print(gpu.device "cpu")
    ]])
    assert.are.equal(0, status, output)
    assert(output:find("^nil\tG09%d%d\tstring\n0\ncpu\n"), output)
    output, status = run(environment .. "GPULUA_DEVICE=cuda:0", ADD)
    assert.are.equal(1, status)
    assert(output:find "error%[G09%d%d%]", output)
    assert.are.equal(1, count(output, "error["))
  end)
end)

local fake = build .. "/spec/unit/runtime/libgp_fakecuda.so"
local function find_fake()
  local found = sh.run("find " .. sh.quote(build) .. " -name '*gp_fakecuda.so'")
  local path = found:match "[^\n]+"
  return path and sh.exists(path) and path
end

describe("a driver", function()
  local path = find_fake() or fake
  local function environment(more)
    return ("GPULUA_LIBCUDA=%s GPULUA_DEVICE=cuda:0 %s"):format(sh.quote(path), more or "")
  end
  local function needs_fake()
    if sh.exists(path) then return false end
    pending("the fake driver was not built")
    return true
  end

  it("that is a stub is told so", function()
    if needs_fake() then return end
    local output, status = run(environment "GPULUA_FAKE_INIT=34", ADD)
    assert.are.equal(1, status)
    assert.are.equal(1, count(output, "error["), output)
    assert(output:lower():find("stub", 1, true), output)
  end)

  it("without a device is told so", function()
    if needs_fake() then return end
    local output, status = run(environment "GPULUA_FAKE_INIT=100", ADD)
    assert.are.equal(1, status)
    assert.are.equal(1, count(output, "error["), output)
  end)

  it("that is too old is told so", function()
    if needs_fake() then return end
    local output, status = run(environment "GPULUA_FAKE_VERSION=10000", ADD)
    assert.are.equal(1, status)
    assert.are.equal(1, count(output, "error["), output)
  end)

  it("that lacks a symbol is told so", function()
    if needs_fake() then return end
    local output, status = run(environment "GPULUA_FAKE_MISSING=cuLaunchKernel", ADD)
    assert.are.equal(1, status)
    assert.are.equal(1, count(output, "error["), output)
  end)

  it("of a GPU that is too old or unknown is told so", function()
    if needs_fake() then return end
    for _, sm in ipairs { 35, 75 } do
      local output, status = run(environment("GPULUA_FAKE_SM=" .. sm), ADD)
      assert.are.equal(1, status, output)
      assert.are.equal(1, count(output, "error["), output)
      assert(output:find("sm_" .. sm, 1, true), output)
    end
    -- One newer than all that are known runs the code of the newest.
    local output, status = run(environment "GPULUA_FAKE_SM=199", ADD)
    assert(status <= 1 and count(output, "error[") <= 1, output)
  end)

  it("tells what a kernel takes", function()
    if needs_fake() then return end
    local output, status = run(environment(), [[
      local gpu = require "gpulua"
      local k = gpu.kernels "#[kernel] fn scale(mut z: DisjointSlice<f32>) { if let Some(o) = z.get_mut(thread::index_1d()) { *o = 1.0; } }"
      local i = k.scale:with { block = 512 }:info(gpu.empty { 64 })
      print(i.device, i.threads, i.registers, i.local_bytes, i.shared_bytes, i.blocks, i.occupancy, i.warps)
      local t = gpu.kernels "#[tile] fn scale(z: &mut Tensor<f32, {[1024]}>) { z.store(z.load() * 2.0); }"
      i = t.scale:info(gpu.empty { 1024 }:tiles { 1024 })
      print(i.warps == i.threads // 32, i.stages, i.cluster, i.persistent)
    ]])
    assert.are.equal("cuda:0\t512\t32\t0\t0\t4\t1.0\tnil\ntrue\t1\t1\tfalse\n", output)
    assert.are.equal(0, status)
  end)

  it("out of memory is an error, after which the script goes on", function()
    if needs_fake() then return end
    local output, status = run(environment "GPULUA_FAKE_MEMORY=67108864", [[
      local gpu = require "gpulua"
      local ok, err = pcall(gpu.zeros, { 64 << 20 })
      print(ok, err.code, err.message)
      local t = gpu.zeros { 1024 }
      print(t[1024])
      local held = {}
      ok, err = pcall(function() for i = 1, 100 do held[i] = gpu.zeros { 1 << 20 } end end)
      print(ok, #held > 5 and #held < 17)
      held = nil
      print(gpu.zeros({ 4 << 20 }).numel)
    ]])
    assert.are.equal(0, status, output)
    assert(output:find "^false\tG%d+\t[^\n]*memory[^\n]*\n0.0\nfalse\ttrue\n4194304\n$", output)
  end)

  it("has its memory counted by the collector", function()
    if needs_fake() then return end
    local output, status = run(environment "GPULUA_FAKE_MEMORY=67108864", [[
      local gpu = require "gpulua"
      local most = 0
      for _ = 1, 1000 do
        local t = gpu.empty { 256 << 10 }
        most = math.max(most, gpu.memory().used)
      end
      print(most < 48 << 20)
    ]])
    assert.are.equal(0, status, output)
    assert.are.equal("true\n", output)
  end)

  it("that fails for good makes every call say so, and none crash", function()
    if needs_fake() then return end
    local output, status = run(environment "GPULUA_FAKE_STICKY=1:700", [[
      local gpu = require "gpulua"
      local x = gpu.zeros { 4 }
      for i = 1, 3 do
        local ok, err = pcall(function() x:fill(i) return x:to_table() end)
        print(ok, type(err))
      end
    ]])
    assert.are.equal(0, status, output)
  end)
end)

describe("a process", function()
  it("of stock Lua has the module", function()
    local lua = sh.run("command -v lua5.4"):match "%S+"
    if not lua then return pending("lua5.4 is not installed") end
    if (sh.cache("GPULUA_SANITIZE") or "") ~= "" then return pending("the sanitizer's runtime is not in lua5.4") end
    local output, status = run(("GPULUA_DEVICE=cpu LUA_CPATH=%s/lua/?.so"):format(build), ADD .. "print(package.loaded.gpulua._VERSION)", lua)
    assert.are.equal(0, status, output)
    assert(output:find "^tensor{3} f32 cpu  %[1, 2, 3%]\n%d+%.%d+%.%d+\n$", output)
  end)

  it("prints an uncaught error once, with the traceback", function()
    local output, status = run("GPULUA_DEVICE=cpu", [[
      local gpu = require "gpulua"
      local t = gpu.zeros { 4 }
      t:free()
      print(t)
    ]])
    assert.are.equal(1, status)
    assert.are.equal(1, count(output, "error[G0302]"), output)
    assert.are.equal(1, count(output, "stack traceback"), output)
    assert(output:find "script%.lua:4", output)
  end)

  it("prints a report in the interactive loop when a result cannot be printed", function()
    local path = os.tmpname()
    sh.write(path, 'gpu = require "gpulua"\nx = gpu.zeros { 4 }\nx:free()\nx\n')
    local output = sh.run(("GPULUA_DEVICE=cpu TERM=dumb %s -i <%s"):format(sh.quote(program), path))
    os.remove(path)
    assert.are.equal(1, count(output, "error[G0302]"), output)
    assert.are.equal(0, count(output, "calling 'print'"), output)
  end)

  it("prints a failed check that nobody waited for when it ends", function()
    local FAILS = [[
      local gpu = require "gpulua"
      local k = gpu.kernels "#[kernel] fn f(n: u32, mut z: DisjointSlice<f32>) { assert!(n < 3, \"too far\"); }"
      local z = gpu.zeros { 4 }
    ]]
    local output, status = run("GPULUA_DEVICE=cpu", FAILS .. "k.f(3, z):run()")
    assert.are.equal(0, status, output)
    assert.are.equal(1, count(output, "error["), output)
    assert(output:find("too far", 1, true), output)
    assert(output:find("in kernel `f`", 1, true), output)
    output = run("GPULUA_DEVICE=cpu", FAILS .. "k.f(3, z):run(gpu.stream())")
    assert.are.equal(1, count(output, "error["), output)
    for _, quiet in ipairs {
      "k.f(2, z):run()", "pcall(function() k.f(3, z):sync() end)",
      "k.f(3, z):run() pcall(function() return z[1] end)", "k.f(3, z):run() pcall(gpu.sync)"
    } do
      output, status = run("GPULUA_DEVICE=cpu", FAILS .. quiet)
      assert.are.equal(0, status, output)
      assert.are.equal("", output)
    end
  end)

  it("ends in order whatever is still alive", function()
    local output, status = run("GPULUA_DEVICE=cpu", [[
      gpu = require "gpulua"
      k = gpu.kernels "#[kernel] fn f(mut z: DisjointSlice<f32>) { let i = thread::index_1d(); if let Some(o) = z.get_mut(i) { *o = 1.0; } }"
      z = gpu.zeros { 1 << 20 }
      p = gpu.zeros({ 8 }):partition { 4 }
      s = gpu.stream()
      op = k.f(z):run(s)
      made = k.f(gpu.zeros { 4 })
      _, err = pcall(gpu.kernels, "fn")
      view = z:slice { 1, 10 }
      co = coroutine.wrap(function() k.f(gpu.zeros { 1 << 20 }):await() coroutine.yield() end)
      co()
      setmetatable({}, { __gc = function() pcall(function() return z[1] end) end })
    ]])
    assert.are.equal(0, status, output)
    assert(count(output, "\n") <= 1, output)
  end)

  -- In a build with sanitizers every process of this file is searched for leaks, too.
  it("loses no memory", function()
    -- A sanitizer keeps freed memory for a while.
    local limit = (sh.cache("GPULUA_SANITIZE") or "") == "" and 12 or 300
    local output, status = run("GPULUA_DEVICE=cpu", ADD .. "local LIMIT = " .. limit .. [[

      local function resident()
        local pages = io.open("/proc/self/statm"):read("a"):match "^%d+ (%d+)"
        return tonumber(pages) * 4096
      end
      local before
      for i = 1, 400 do
        pcall(gpu.kernels, "#[kernel] fn f() { x }")
        gpu.kernels "#[kernel] fn g() {}"
        local t = gpu.zeros { 1 << 12 }
        local p = t:partition { 4 }
        pcall(t.fill, t, 1)
        p:unpartition():free()
        pcall(k.f, t, t)
        pcall(k.f, gpu.zeros { 2 })
        k.f(z, z:copy()):sync()
        if i == 100 then collectgarbage() before = resident() end
      end
      collectgarbage()
      collectgarbage()
      local grown = resident() - before
      print(grown < LIMIT << 20 and "kept" or grown)
      z, p, t = nil, nil, nil
      collectgarbage()
      print(gpu.memory().used < 100 and "empty" or gpu.memory().used)
    ]])
    assert.are.equal(0, status, output)
    assert(output:find "\nkept\nempty\n$", output)
  end)
end)

-- One SIGINT ends a kernel that would not end, as it ends Lua code, and what comes after runs.
describe("an interrupt", function()
  local KERNELS = [[
    #[kernel] fn forever(mut z: DisjointSlice<f32>) { loop {} }
    #[kernel] fn repeated(n: u32, mut z: DisjointSlice<f32>) {
        let mut i = 0;
        while i < n { i = (i + 1) % 5; }
        if let Some(o) = z.get_mut(thread::index_1d()) { *o = i as f32; }
    }
    #[kernel] fn counted(n: u64, mut z: DisjointSlice<f32>) {
        let mut s = 0.0f32;
        for i in 0..n { s = s * 0.5 + i as f32; }
        if let Some(o) = z.get_mut(thread::index_1d()) { *o = s; }
    }
    #[kernel] fn nested(n: u32, mut z: DisjointSlice<f32>) {
        let mut s = 0.0f32;
        for i in 0..n { for j in 0..n { s = s * 0.5 + (i ^ j) as f32; } }
        if let Some(o) = z.get_mut(thread::index_1d()) { *o = s; }
    }
    #[kernel] fn short(mut z: DisjointSlice<f32>) {
        if let Some(o) = z.get_mut(thread::index_1d()) { *o = (*o).sin(); }
    }
    #[tile] fn tiles(z: &mut Tensor<f32, {[16]}>) {
        let mut t = z.load();
        for i in 0..2000000000 { for j in 0..2000000000 { t = t * 0.5 + z.load(); } }
        z.store(t);
    }
  ]]
  local LAUNCHES = {
    { "cpu", "k.forever(z)" }, { "cpu", "k.repeated(5, z)" }, { "cpu", "k.counted(1 << 62, z)" },
    { "cpu", "k.nested(0xffffffff, z)" }, { "cpu", "k.short:with { grid = 2000000000 }(z)" },
    { "cpu", "k.tiles(z:tiles { 16 })" }, { "interp", "k.forever(z)" },
    { "interp", "k.short:with { grid = 2000000000 }(z)" },
  }
  for _, launch in ipairs(LAUNCHES) do
    it(("ends %s on %s"):format(launch[2], launch[1]), function()
      local environment = ("GPULUA_DEVICE=%s timeout --foreground --preserve-status -s INT 1"):format(launch[1])
      local output, status = run(environment, ([[
        local gpu = require "gpulua"
        local k, z = gpu.kernels [==[%s]==], gpu.zeros { 4096 }
        print(xpcall(function() return %s:sync() end, debug.traceback))
        k.repeated(1, z):sync()
        print(z[1], os.clock() < 20)
      ]]):format(KERNELS, launch[2]))
      assert.are.equal(0, status, output)
      assert(output:find("^false\tinterrupted!\nstack traceback:\n\t%[C%]: in method 'sync'\n"), output)
      assert(output:find "\n1.0\ttrue\n$", output)
    end)
  end
end)
