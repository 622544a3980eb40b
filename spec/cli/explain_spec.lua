-- gpulua explain: every code has a text; its wrong program gives that code, alone, and its right
-- program is accepted. A program that is no list of items is the body of a function; one that
-- names a tensor or `k` is Lua, with the kernels and tensors of PRELUDE.
local sh = require "spec.support.sh"
local def = require "spec.support.def"

local PRELUDE = [==[
local gpu = require "gpulua"
local k = gpu.kernels [[
  #[tile] fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
      z.store(x.load_like(z) + y.load_like(z));
  }
  #[tile] fn add2<const B: i32>(z: &mut Tensor<f32, {[B]}>, y: &mut Tensor<f32, {[B]}>) {
      z.store(z.load() + y.load());
  }
  #[tile] fn copy2<const B: i32, const C: i32>(z: &mut Tensor<f32, {[B]}>, y: &mut Tensor<f32, {[C]}>) {
      z.store(z.load());
      y.store(y.load());
  }
  #[tile] fn fill<const B: i32>(z: &mut Tensor<f32, {[B]}>) { z.store(constant(1.0, shape![B])); }
  #[tile] fn part<const B: i32, const N: i32>(z: &mut Tensor<f32, {[B]}>) { z.store(constant(1.0, shape![B])); }
  #[tile] fn both<const B: i32, const A: i32, const C: i32>(z: &mut Tensor<f32, {[B]}>) {
      let t = constant(1.0f32, shape![A]) + constant(1.0f32, shape![C]);
      z.store(constant(1.0, shape![B]));
  }
  #[tile] fn far<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
      z.store(x.partition(shape![B]).load([program_id(0) + 1]));
  }
  #[kernel] #[launch_contract(domain = 1, block = (256, 1, 1))]
  fn vecadd(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = c.get_mut(idx) { *out = a[i] + b[i]; }
  }
  #[kernel] #[launch_bounds(256)] fn ones(mut c: DisjointSlice<f32>) {
      if let Some(out) = c.get_mut(thread::index_1d()) { *out = 1.0; }
  }
  #[kernel] fn first(x: &[f32]) { let a = x[0]; }
  #[kernel] fn next(x: &[f32], mut c: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = c.get_mut(idx) { *out = x[i + 1]; }
  }
  #[kernel] fn divide(n: i32, mut c: DisjointSlice<f32>) {
      if let Some(out) = c.get_mut(thread::index_1d()) { *out = (1 / n) as f32; }
  }
  #[kernel] fn check(n: i32, mut c: DisjointSlice<f32>) {
      assert!(n > 0);
      if let Some(out) = c.get_mut(thread::index_1d()) { *out = 1.0; }
  }
]]
local x, y, z = gpu.ones{1024}, gpu.arange(1024, "f32"), gpu.zeros{1024}
local buffer = function() return x end -- has some memory
local address = debug.upvalueid(buffer, 1)
local say = print
local function print(value) tostring(value) end
local ok, err = pcall(function() %s
end)
say(ok and "" or type(err) == "userdata" and err.code or tostring(err))
]==]

-- Codes whose texts have no programs, and why.
local WITHOUT = {
  G0037 = "macros that write a page of text", G0252 = "a page of helpers that call helpers",
  G0304 = "depends on the device", G0305 = "comes from C programs only", G0306 = "Lua's own argument check is first",
  G0307 = "comes from foreign launchers only", G0315 = "comes from C programs only",
  G0500 = "a bug of ours", G0505 = "depends on the machine",
}
for code = 900, 999 do WITHOUT[("G0%03d"):format(code)] = "depends on the machine" end

-- Codes whose programs are not run here, and why.
local UNRUN = {
  E0373 = "needs a result of type `impl Fn`, which is refused",
  G0010 = "hundreds of levels: spec/ui has it",
  G0040 = "Lua refuses the script itself",
  G0257 = "Lua's own check of a map is first",
  G0303 = "needs a GPU", G0502 = "needs a target", G0503 = "needs a GPU", G0504 = "prose",
}

local ITEMS = {}
for word in ("fn struct trait impl const mod use enum static async pub type unsafe extern union"):gmatch "%a+" do
  ITEMS[word] = true
end

local function is_lua(program)
  return program:find("^k%.") or program:find("^gpu%.") or program:find("^local ") or program:find("^print%(") or program:find("^[xyz]:")
end

local function as_items(program)
  local word = program:match("^%a+")
  local starts = program:find("^[#/]") or ITEMS[word] and not program:find("^unsafe {")
  if starts then return program end
  return "fn example() { " .. program .. (program:find("[;}]$") and "" or ";") .. " }"
end

describe("gpulua explain", function()
  local folder
  local program = sh.quote(sh.build() .. "/gpulua")

  local found = {} -- name of a program -> the codes that it gives

  -- The codes that files give, by name: what says nothing when it is defined is instantiated. One
  -- process a step; a start costs more than a program.
  local function check_all(names)
    for _, words in ipairs { "check --short", "check --short --with ''" } do
      local left = {}
      local out, status = sh.run(("cd %s && %s %s %s"):format(folder, program, words, table.concat(names, " ")))
      assert.is_truthy(status < 2, out)
      for _, name in ipairs(names) do found[name] = {} end
      for name, code in out:gmatch("([%w_]+%.rs):%d+:%d+: %a+%[(%w+)%]: ") do table.insert(found[name], code) end
      for _, name in ipairs(names) do
        if #found[name] == 0 then left[#left + 1] = name end
      end
      names = left
    end
  end

  setup(function()
    folder = sh.check("mktemp -d"):gsub("\n", "")
    local names = {}
    for _, row in ipairs(def.rows("core/diag.def", "GP_DIAG")) do
      local wrong, right = def.text(row[4]):match("\nwrong: (.-)\nright: (.-)$")
      for kind, text in pairs { wrong = wrong, right = right } do
        if not WITHOUT[row[1]] and not UNRUN[row[1]] and not is_lua(text) then
          names[#names + 1] = kind .. row[1] .. ".rs"
          sh.write(folder .. "/" .. names[#names], as_items(text) .. "\n")
        end
      end
    end
    check_all(names)
  end)
  teardown(function() sh.run("rm -rf " .. folder) end)

  -- The codes that a program gives, each once a diagnostic, joined.
  local function codes_of(text, name)
    if found[name] then return table.concat(found[name], " ") end
    sh.write(folder .. "/program.lua", (PRELUDE:gsub("%%s", function() return text end)))
    return (sh.check(("cd %s && GPULUA_DEVICE=cpu %s program.lua 2>/dev/null"):format(folder, program)):gsub("\n", ""))
  end

  for _, row in ipairs(def.rows("core/diag.def", "GP_DIAG")) do
    local code = row[1]
    it("tells about " .. code, function()
      local text, status = sh.run(("%s explain %s"):format(program, code:lower()))
      assert.are.equal(0, status)
      assert.is_truthy(text:find("^" .. code .. "[:\n]"))
      assert.is_nil(text:find("%s", 1, true))
      local wrong, right = text:match("\n\n..-\nwrong: (.-)\nright: (.-)\n$")
      if WITHOUT[code] then return assert.is_truthy(text:find("\n\n[^\n]+%.[^\n]*\n$")) end
      assert.is_truthy(wrong, "no programs")
      if UNRUN[code] then return end
      assert.are.equal(code, codes_of(wrong, "wrong" .. code .. ".rs"), wrong)
      assert.are.equal("", codes_of(right, "right" .. code .. ".rs"), right)
    end)
  end

  it("knows no other code", function()
    for _, code in ipairs { "E9999", "E", "E03820", "G03", "''", "0382" } do
      local text, status = sh.run(program .. " explain " .. code)
      assert.are.equal(1, status)
      assert.is_truthy(text:find("no diagnostic has the code", 1, true))
    end
  end)

  it("wants one code", function()
    assert.are.equal(2, select(2, sh.run(program .. " explain")))
    assert.are.equal(2, select(2, sh.run(program .. " explain E0382 E0499")))
  end)
end)
