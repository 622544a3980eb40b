-- CTest: slow
-- The checklists of CONTRIBUTING.md: the additions that it shows are made in a copy of the tree,
-- which is built and tried. A block's first line says where it goes:
--   FILE after TEXT | FILE before TEXT   beside the first line that starts with TEXT
--   FILE end | FILE new
local sh = require "spec.support.sh"

local COPIED = "core dsl codegen runtime lua cmake spec CMakeLists.txt"

local function additions(text)
  local found = {}
  for info, body in text:gmatch("\n```%a+ ([^\n]+)\n(.-\n)```") do
    local file, how, anchor = info:match("^(%S+) (%l+) ?(.*)$")
    found[#found + 1] = { file = assert(file, info), how = how, anchor = anchor, body = body }
  end
  return found
end

local function add(folder, a)
  local path = folder .. "/" .. a.file
  local old = sh.read(path)
  if a.how == "new" then
    assert(not old, a.file .. " is there already")
    return sh.write(path, a.body)
  elseif a.how == "end" then
    return sh.write(path, assert(old, a.file) .. "\n" .. a.body)
  end
  local at = ("\n" .. assert(old, a.file)):find("\n" .. a.anchor, 1, true)
  assert(at, ("%s has no line that starts with %q"):format(a.file, a.anchor))
  if a.how == "after" then at = assert(old:find("\n", at, true)) + 1 end
  sh.write(path, old:sub(1, at - 1) .. a.body .. old:sub(at))
end

-- Builds of its own, the same whatever build is under test: once is enough.
if (sh.cache("GPULUA_SANITIZE") or "") ~= "" then
  return describe("a build under a sanitizer", function() pending("leaves this to the others") end)
end

describe("CONTRIBUTING.md's additions", function()
  local folder, program

  local function run(name, text, command)
    sh.write(folder .. "/" .. name, text)
    return sh.run(("cd %s && %s"):format(folder, command))
  end

  setup(function()
    -- One place for all runs, so that the compiler cache knows it.
    folder = sh.build() .. "/contributing"
    program = folder .. "/build/gpulua"
    sh.check(("rm -rf %s && mkdir -p %s && cp -R %s %s"):format(folder, folder, COPIED, folder))
    local made = additions(assert(sh.read "CONTRIBUTING.md"))
    assert(#made == 10, "CONTRIBUTING.md shows " .. #made .. " additions")
    for _, a in ipairs(made) do add(folder, a) end
    sh.check(("cmake -S %s -B %s/build -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-g0 -DGPULUA_STATIC_LLVM=OFF")
      :format(folder, folder))
    sh.check("cmake --build " .. folder .. "/build --target gpulua gp_ir_tool gp_codegen_tool")
  end)
  teardown(function() sh.run("rm -rf " .. folder) end)

  it("an operation works in both tracks, compiled and interpreted", function()
    local script = [[
      local gpu = require "gpulua"
      local k = gpu.kernels [=[
        #[tile]
        fn tile<const B: i32>(z: &mut Tensor<f32, {[B]}>) { let t = z.load(); z.store(round_even(t)); }
        #[kernel]
        fn simt(mut z: DisjointSlice<f32>) {
            let idx = thread::index_1d();
            if let Some(e) = z.get_mut(idx) { *e = (*e).round_even(); }
        }
      ]=]
      local function values() return gpu.from_table { 0.5, 1.5, 2.5, -0.5, -1.5, 3.2, 1e10, 7 } end
      local a, b = values(), values()
      k.tile(a:tiles{8}):sync()
      k.simt(b):sync()
      print(table.concat(a:to_table(), " "))
      print(table.concat(b:to_table(), " "))
    ]]
    for _, device in ipairs { "cpu", "interp" } do
      local output, status = run("op.lua", script, "GPULUA_DEVICE=" .. device .. " " .. program .. " op.lua")
      assert.equal(0, status, output)
      local want = "0.0 2.0 2.0 -0.0 -2.0 3.0 10000000000.0 7.0\n"
      assert.equal(want .. want, output)
    end
  end)

  it("an operation is tested on every element type by the tests there are", function()
    local output, status = sh.run(folder .. "/build/spec/codegen/gp_codegen_tool ops round_even")
    assert.equal(0, status, output)
  end)

  it("a diagnostic is reported and explained", function()
    local source = "#[kernel]\nfn end(mut z: DisjointSlice<f32>) {}\n"
    local output, status = run("end.rs", source, program .. " check end.rs")
    assert.equal(1, status)
    assert.is_truthy(output:find("error[G0299]: kernel `end` has the name of a Lua keyword\n --> end.rs:2:", 1, true), output)
    assert.is_truthy(sh.check(program .. " explain G0299"):find("fn finish", 1, true))
  end)

  it("a pass runs and is judged by FileCheck", function()
    local output, status = run("negneg.ir", [[
// DO: pass negneg
// DO: print
fn @f tile (%a: f32 scalar 0, %b: f32 scalar 1) {
  %n = neg %a : f32
  %m = neg %n : f32
  %r = add %m, %b : f32
  return
}
// CHECK: add %a, %b : f32
]], ("spec/ir/check.sh build/spec/ir/gp_ir_tool %s negneg.ir"):format(sh.cache "FILECHECK" or "FileCheck-22"))
    assert.equal(0, status, output)
  end)

  it("an intrinsic works", function()
    local script = [[
      local gpu = require "gpulua"
      local k = gpu.kernels [=[
        #[kernel]
        fn first(mut z: DisjointSlice<i32>) {
            let idx = thread::index_1d();
            if let Some(e) = z.get_mut(idx) { if thread::is_first() { *e = 7; } }
        }
      ]=]
      local z = gpu.zeros({600}, "i32")
      k.first(z):sync()
      local sum, t = 0, z:to_table()
      for _, e in ipairs(t) do sum = sum + e end
      print(t[1], sum)
    ]]
    local output, status = run("first.lua", script, "GPULUA_DEVICE=cpu " .. program .. " first.lua")
    assert.equal(0, status, output)
    assert.equal("7\t7\n", output)
  end)
end)
