-- gpulua's commands: what they print, where, and their exit status.
local sh = require "spec.support.sh"

local TILE = [[
#[tile]
fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
    let tx = x.load_like(z);
    let ty = y.load_like(z);
    z.store(tx + ty);
}
]]
local SIMT = [[
#[kernel]
fn vecadd(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(out) = c.get_mut(idx) { *out = a[i] + b[i]; }
}
]]
local BAD = "fn bad() { let x: f32 = 1; }\n"
local SUM = [[
#[tile]
fn sum<const B: i32, const C: i32>(z: &mut Tensor<f32, {[B]}>) {
    let t = constant(1.0f32, shape![B]) + constant(1.0f32, shape![C]);
    z.store(t);
}
]]

local FILES = {
  ["good.rs"] = TILE .. SIMT,
  ["bad.rs"] = BAD,
  ["warned.rs"] = "fn f(x: i32) -> i32 { unsafe { x + 1 } }\n",
  ["syntax.rs"] = "fn f( { }\n",
  ["sum.rs"] = SUM,
  ["flag.rs"] = "#[tile]\nfn flag<const F: bool>(z: &mut Tensor<f32, {[8]}>) { if F { z.store(constant(1.0f32, shape![8])); } }\n",
  ["good.lua"] = "local gpu = require 'gpulua'\nlocal k = gpu.kernels [[\n" .. TILE .. "]]\n" ..
    "local l = gpu.kernels[==[\n" .. SIMT .. "]==]\nprint 'a script'\n",
  ["bad.lua"] = "local gpu = require 'gpulua'\n" ..
    "local a = gpu.kernels [[fn one() { let x: f32 = 1; }]]\n" ..
    "local b = gpu.try_kernels([==[\n  fn two() -> i32 { y }\n]==])\n",
  ["crlf.lua"] = ("local k = gpu.kernels [[\n" .. TILE .. BAD .. "]]\n"):gsub("\n", "\r\n"),
  ["crlf.rs"] = (TILE .. BAD):gsub("\n", "\r\n"),
  ["quotes.lua"] = "local k = gpu.kernels \"fn f() {}\"\nlocal l = gpu.kernels 'fn g() { let x: f32 = 1; }'\n",
  ["escapes.lua"] = "local k = gpu.kernels \"fn f() {\\n let x: f32 = 1; }\"\n",
  ["computed.lua"] = "local k = gpu.kernels(name .. [[fn f() { let x: f32 = 1; }]])\n" ..
    "local l = gpu.kernels([[fn f() {}]] .. name)\nlocal m = gpu.kernels(text)\nlocal n = gpu.kernels [[" .. BAD .. "]]\n",
  ["comments.lua"] = "#!/usr/bin/env gpulua\n-- gpu.kernels [[" .. BAD:sub(1, -2) .. "]]\n--[==[ gpu.kernels [[" .. BAD .. "]] ]==]\n" ..
    "local s = 'gpu.kernels [[nonsense]]' .. [=[ kernels [[nonsense]] ]=] .. \"\\\" kernels [[x]]\"\n" ..
    "local other_kernels = f [[nonsense]]\nfunction M.kernels(text) return text end\nlocal kernels = gpu.kernels\n",
  ["empty.rs"] = "",
  ["empty.lua"] = "",
  ["whole.rs"] = "#[tile]\nfn whole(z: &mut Tensor<f32, {[2048, 2048]}>) { z.store(z.load() + 1.0); }\n",
  ["first.rs"] = "#[tile]\nfn first(z: &mut Tensor<f32, {[8]}>, n: i32) { let i = program_id(n); }\n",
  ["preset.rs"] = "#[tile]\nfn preset<const N: i32 = 2048>(z: &mut Tensor<f32, {[N, N]}>) { z.store(z.load() + 1.0); }\n",
  ["sine.rs"] = "#[tile]\nfn sine(z: &mut Tensor<f32, {[64]}>) { z.store(sin(z.load())); }\n",
  ["left.rs"] = "#[tile]\nfn left(z: &mut Tensor<f32, {[-1]}>, n: i32) { let i = program_id(n); }\n",
  ["broken.lua"] = "#!/usr/bin/env gpulua\nif x then\n  local y = = 2\nend\nlocal k = gpu.kernels [[" .. BAD .. "]]\n",
  ["shebang.lua"] = "\xef\xbb\xbf#!/usr/bin/env gpulua\nlocal k = gpu.kernels [[fn f() {}]]\n",
  ["open.lua"] = "local k = gpu.kernels [[ fn f() {}",
  ["binary.rs"] = "\x7fELF\2\1\1\0\0\0\255\254",
  ["nul.rs"] = "fn f() {}\0fn g() {}\n",
  ["nul.lua"] = "local x = 1\0\nlocal k = gpu.kernels [[" .. BAD .. "]]\n",
  ["bom.rs"] = "\xef\xbb\xbffn f() {}\n",
  ["huge.rs"] = "fn f() -> i32 { " .. ("1 + "):rep(20000) .. "1 }\n",
  ["huge.lua"] = "local s = '" .. ("x"):rep(500000) .. "' local k = gpu.kernels [[" .. BAD .. "]]\n",
  ["doctor"] = "print('a script named doctor', ...)\n",
  ["help.txt"] = "",
}

describe("gpulua's commands", function()
  local folder
  local program = sh.build() .. "/gpulua"

  setup(function()
    folder = sh.check("mktemp -d"):gsub("\n", "")
    sh.check("mkdir " .. folder .. "/scripts " .. folder .. "/emit.rs")
    for name, text in pairs(FILES) do
      sh.write(folder .. "/" .. (name == "doctor" and "scripts/" or "") .. name, text)
    end
    sh.check("cd " .. folder .. " && mkdir check") -- a folder is no script
  end)
  teardown(function() sh.run("rm -rf " .. folder) end)

  -- stdout, stderr and status of `gpulua WORDS` in the folder of files.
  local function run(words, environment)
    local _, status = sh.run(("cd %s && %s %s %s >out 2>err"):format(folder,
      environment or "", sh.quote(program), words))
    return { out = sh.read(folder .. "/out"), err = sh.read(folder .. "/err"), status = status }
  end

  local function has(text, part)
    assert.is_truthy(text:find(part, 1, true), ("no %q in\n%s"):format(part, text))
  end

  local function golden(name, text)
    local path = "spec/cli/golden/" .. name
    if os.getenv("GPULUA_BLESS") then sh.write(path, text) end
    assert.are.equal(sh.read(path), text)
  end

  describe("check", function()
    local CASES = {
      -- words, status, stdout, a part of stderr ("": nothing on stderr)
      { "good.rs", 0, "checked 2 kernels, no errors\n", "" },
      { "good.lua", 0, "checked 2 kernels, no errors\n", "" },
      { "good.rs good.lua", 0, "checked 4 kernels, no errors\n", "" },
      { "good.rs --with B=128,block=256", 0, "checked 2 kernels, no errors\n", "" },
      { "--with B=128,block=16x16 good.rs", 0, "checked 2 kernels, no errors\n", "" },
      { "--parse-only good.lua", 0, "parsed 2 sources\n", "" },
      { "--parse-only bad.rs", 0, "parsed 1 source\n", "" },
      { "--parse-only syntax.rs", 1, "1 error\n", "error[G0004]: this file contains an unclosed delimiter\n --> syntax.rs:1:10\n" },
      { "bad.rs", 1, "1 error\n", "error[E0308]: mismatched types\n --> bad.rs:1:25\n" },
      { "bad.lua", 1, "2 errors\n", " --> bad.lua:2:49\n" },
      { "bad.lua", 1, "2 errors\n", " --> bad.lua:4:21\n" },
      { "good.rs bad.rs", 1, "1 error\n", " --> bad.rs:1:25\n" },
      { "warned.rs", 0, "checked 0 kernels, no errors, 1 warning\n", "warning[G0228]" },
      { "crlf.lua", 1, "1 error\n", " --> crlf.lua:8:25\n" },
      { "crlf.rs", 1, "1 error\n", " --> crlf.rs:7:25\n" },
      { "quotes.lua", 1, "1 error\n", " --> quotes.lua:2:46\n" },
      { "escapes.lua", 0, "checked 0 kernels, no errors\n",
        "escapes.lua:1:24: note: these kernels are not read: the string has escapes; write it as [[..]]\n" },
      { "computed.lua", 1, "1 error\n", "computed.lua:1:23: note: these kernels are not read: their text is computed" },
      { "computed.lua", 1, "1 error\n", "computed.lua:2:25: note: these kernels are not read: their text is computed" },
      { "computed.lua", 1, "1 error\n", "computed.lua:3:23: note: these kernels are not read: their text is computed" },
      { "comments.lua", 0, "checked 0 kernels, no errors\n", "" },
      { "whole.rs", 1, "1 error\n", "error[G0254]: a tile cannot have the type `Tile<f32, {[2048, 2048]}>`\n --> whole.rs:2:" },
      { "first.rs", 1, "1 error\n", "error[G0253]: the axis given to `program_id` is not a constant in range\n --> first.rs:2:" },
      { "preset.rs", 1, "1 error\n", "error[G0254]: a tile cannot have the type `Tile<f32, {[2048, 2048]}>`\n --> preset.rs:2:" },
      { "preset.rs --with N=16", 0, "checked 1 kernel, no errors\n", "" },
      { "left.rs", 0, "checked 1 kernel, no errors\n", "" }, -- a call decides the tile
      { "left.rs --with ''", 1, "1 error\n", "error[G0253]" },
      { "open.lua", 1, "1 error\n", "error[G0040]: this script is no Lua: unfinished long string (starting at line 1) near <eof>\n --> open.lua:1:1\n" },
      { "broken.lua", 1, "2 errors\n", "error[G0040]: this script is no Lua: unexpected symbol near '='\n --> broken.lua:3:3\n" },
      { "broken.lua", 1, "2 errors\n", "error[E0308]: mismatched types\n --> broken.lua:5:" },
      { "--parse-only broken.lua", 1, "1 error\n", "error[G0040]" },
      { "shebang.lua", 0, "checked 0 kernels, no errors\n", "" },
      { "empty.rs empty.lua", 0, "checked 0 kernels, no errors\n", "" },
      { "bom.rs", 0, "checked 0 kernels, no errors\n", "" },
      { "nul.lua", 1, "2 errors\n", " --> nul.lua:2:49\n" },
      { "nul.lua", 1, "2 errors\n", "error[G0040]: this script is no Lua: unexpected symbol\n --> nul.lua:1:1\n" },
      { "huge.lua", 1, "1 error\n", "error[E0308]: mismatched types\n --> huge.lua:1:" },
      { "nowhere.rs", 1, "checked 0 kernels, no errors, 1 file not read\n", "cannot read 'nowhere.rs': No such file" },
      { "check", 1, "checked 0 kernels, no errors, 1 file not read\n", "cannot read 'check': Is a directory" },
      { "nowhere.rs good.rs", 1, "checked 2 kernels, no errors, 1 file not read\n", "nowhere.rs" },
      { "", 2, "", "gpulua check: no file given\nusage: gpulua check " },
      { "--jsno good.rs", 2, "", "unknown option '--jsno'" },
      { "good.rs --with", 2, "", "--with wants NAME=VALUE,..\n" },
      { "good.rs --with B", 2, "", "got 'B'" },
      { "good.rs --with block=0", 2, "", "got 'block=0'" },
      { "good.rs --with block=4294967296", 2, "", "got 'block=4294967296'" },
      { "good.rs --with block=8x", 2, "", "got 'block=8x'" },
      { "good.rs --with warps=64", 2, "", "got 'warps=64'" },
      { "good.rs --with persistent=1", 2, "", "got 'persistent=1'" },
      { "good.rs --with B=[4,]", 2, "", "got 'B=[4,]'" },
      { "good.rs --with B=[4", 2, "", "got 'B=[4'" },
      { "good.rs --with B=[4]x", 2, "", "got 'B=[4]x'" },
      { "good.rs --with block=256,B=[4,8]", 1, "1 error\n", "error[G0328]: `[4, 8]` does not fit generic `B` of kernel `add`" },
      { "good.rs --with B=99999999999999999999", 2, "", "got 'B=999" },
      { "good.rs --with B=128,BB=3", 2, "", "no kernel takes `BB`" },
      { "good.rs --with b=4", 2, "", "no kernel takes `b`" },
      { "sum.rs --with B=4,C=4,block=32", 2, "", "no kernel takes `block`" },
      { "good.rs --with block=256", 1, "1 error\n", "error[G0325]: cannot infer generic `B` of kernel `add`" },
      { "good.rs --with B=8,block=64x64", 1, "1 error\n", "error[G0207]: a block of 4096 threads" },
      { "flag.rs --with warps=4", 1, "1 error\n", "= help: give it by name: `--with F=true`\n" },
      { "flag.rs --with F=128", 1, "1 error\n", "= note: expected `true` or `false`\n" },
      { "flag.rs --with F=true", 0, "checked 1 kernel, no errors\n", "" },
      { "sum.rs --with B=4,C=8", 1, "1 error\n", "error[G0153]" },
      { "sum.rs --with B=4,C=4", 0, "checked 1 kernel, no errors\n", "" },
    }
    for i, case in ipairs(CASES) do
      it(("%d: check %s"):format(i, case[1]), function()
        local r = run("check " .. case[1])
        assert.are.equal(case[3], r.out)
        if case[4] == "" then assert.are.equal("", r.err) else has(r.err, case[4]) end
        assert.are.equal(case[2], r.status)
      end)
    end

    it("prints what is left for instantiation", function()
      local r = run("check sum.rs")
      golden("obligations.txt", r.out)
      assert.are.equal(0, r.status)
    end)

    it("reports as a person reads it", function() golden("report.txt", run("check bad.lua").err) end)

    it("prints one line for each diagnostic with --short", function()
      golden("short.txt", run("check --short bad.lua warned.rs syntax.rs").out)
      assert.are.equal("", run("check --short good.rs").out)
      assert.are.equal(1, run("check --short bad.rs").status)
    end)

    it("prints one object for each diagnostic with --json", function()
      local r = run("check --json bad.lua warned.rs")
      assert.are.equal("", r.err)
      assert.are.equal(1, r.status)
      local lines = sh.lines(r.out)
      assert.are.equal(3, #lines)
      local ok, json = pcall(require, "dkjson")
      for i, line in ipairs(lines) do
        assert.is_truthy(line:find '^{.*}$')
        if ok then
          local d, _, err = json.decode(line)
          assert.is_nil(err)
          assert.are.equal(({ "E0308", "E0425", "G0228" })[i], type(d.code) == "table" and d.code.code or d.code)
        end
      end
      assert.are.equal("", run("check --json good.rs").out)
    end)

    for _, name in ipairs { "binary.rs", "nul.rs", "huge.rs" } do
      it("survives " .. name, function()
        local r = run("check " .. name)
        assert.is_truthy(r.status == 0 or r.status == 1, r.err)
        if name ~= "huge.rs" then has(r.err, " --> " .. name .. ":1:") end
      end)
    end
  end)

  describe("emit", function()
    -- stage -> a text for each track, for the CPU and for a GPU; false: no such stage there
    local STAGES = {
      ast = { cpu = "fn ", gpu = "fn " },
      ir = { cpu = "fn @%s", gpu = "fn @%s" },
      ["ir-opt"] = { cpu = "fn @%s", gpu = "fn @%s" },
      llvm = { cpu = "target datalayout", gpu = "target triple = \"nvptx64-nvidia-cuda\"" },
      ptx = { gpu = ".visible .entry %s" },
      asm = { cpu = "gp_entry" },
    }
    for stage, texts in pairs(STAGES) do
      for _, target in ipairs { "cpu", "sm_80", "sm_90", "sm_90a" } do
        for kernel, with in pairs { add = "--with B=128", vecadd = "--with block=256" } do
          local text = texts[target == "cpu" and "cpu" or "gpu"]
          it(("%s of %s for %s"):format(stage, kernel, target), function()
            local r = run(("emit --stage %s --target %s --kernel %s %s good.rs"):format(stage, target, kernel, with))
            if not text then
              assert.are.equal(2, r.status)
              return has(r.err, ("the target '%s' has no stage '%s'"):format(target, stage))
            end
            assert.are.equal("", r.err)
            assert.are.equal(0, r.status)
            has(r.out, text:format(kernel))
            if stage == "ptx" then has(r.out, ".target " .. target .. "\n") end
          end)
        end
      end
    end

    it("emits all kernels of a file, each with its own generics", function()
      local r = run("emit --stage ptx --with B=64,block=128 good.lua")
      assert.are.equal(0, r.status)
      has(r.out, ".entry add")
      has(r.out, ".entry vecadd")
      has(r.out, ".target sm_90a\n")
    end)

    it("shows the schedule that a tile kernel is asked to have", function()
      local r = run("emit --stage ir --with B=64,block=128,warps=8,persistent=false good.lua")
      assert.are.equal("", r.err)
      has(r.out, ", block 1 1 1, warps 8, persistent 1 (")
      r = run("emit --stage ir --kernel vecadd --with block=128,warps=8 good.lua")
      has(r.err, "no kernel takes `warps`")
      assert.are.equal(2, r.status)
    end)

    it("tells the launch and the schedule behind a tile kernel's PTX", function()
      local r = run("emit --stage ptx --with B=64,block=128,warps=4 good.lua")
      has(r.out, "// launch: 128 threads\n" ..
        "// schedule: warps 4 stages 1 cluster 1 persistent 1\n")
      r = run("emit --stage ptx --kernel vecadd --with block=128 good.lua")
      assert.is_nil(r.out:find("// launch", 1, true))
    end)

    it("says which generic no kernel has", function()
      local r = run("emit --stage ir --kernel vecadd --with Q=1 good.rs")
      has(r.err, "no kernel takes `Q`")
      assert.are.equal("", r.out)
      assert.are.equal(2, r.status)
      r = run("emit --stage ptx --with B=64,block=128,Q=1 good.rs")
      assert.are.equal("", r.out)
      assert.are.equal(2, r.status)
    end)

    it("needs the device math library that it is told of", function()
      local r = run("emit --stage ptx sine.rs", "GPULUA_LIBDEVICE=/nowhere/libdevice.bc")
      has(r.err, "error[G0505]: no device math library was found for kernel `sine`\n")
      has(r.err, "note: GPULUA_LIBDEVICE is `/nowhere/libdevice.bc`, which cannot be read\n")
      assert.are.equal(1, r.status)
      assert.are.equal(0, run("emit --stage ir sine.rs", "GPULUA_LIBDEVICE=/nowhere/libdevice.bc").status)
    end)

    it("gives the same bytes in every process", function()
      local words = "emit --stage ptx --with B=64,block=128 good.rs"
      assert.are.equal(run(words).out, run(words).out)
    end)

    for words, want in pairs {
      [""] = { 2, "a file and a --stage are needed\nusage: gpulua emit " },
      ["good.rs"] = { 2, "a file and a --stage are needed" },
      ["--stage"] = { 2, "--stage wants a value" },
      ["--stage sass good.rs"] = { 2, "unknown stage 'sass'" },
      ["--stage ptx --target sm_50 good.rs"] = { 2, "unknown target 'sm_50'" },
      ["--stage ptx --target fpga good.rs"] = { 2, "unknown target 'fpga'" },
      ["--stage ptx good.rs good.lua"] = { 2, "unexpected 'good.lua'" },
      ["--stage ptx --quick good.rs"] = { 2, "unexpected '--quick'" },
      ["--stage ir --with B good.rs"] = { 2, "got 'B'" },
      ["--stage ir --kernel sub good.rs"] = { 1, "no kernel 'sub' in 'good.rs'" },
      ["--stage ir empty.rs"] = { 1, "no kernel in 'empty.rs'" },
      ["--stage ir nowhere.rs"] = { 1, "cannot read 'nowhere.rs'" },
      ["--stage ir open.lua"] = { 1, "error[G0040]" },
      ["--stage ir bad.rs"] = { 1, "error[E0308]" },
      ["--stage ast syntax.rs"] = { 1, " --> syntax.rs:1:10" },
      ["--stage ir --kernel add good.rs"] = { 1, "error[G0325]" },
    } do
      it("refuses: emit " .. words, function()
        local r = run("emit " .. words)
        assert.are.equal("", r.out)
        has(r.err, want[2])
        assert.are.equal(want[1], r.status)
      end)
    end
  end)

  describe("doctor", function()
    local fake = os.getenv("GPULUA_FAKECUDA") or sh.build() .. "/spec/unit/runtime/libgp_fakecuda.so"
    local CASES = {
      -- environment of the fake driver, status, parts of the output
      { "", 0, { "ok   cuda:0", "sm_90", "kernels for sm_90a" } },
      { "GPULUA_FAKE_COUNT=3", 0, { "ok   cuda:2" } },
      { "GPULUA_FAKE_COUNT=0", 0, { "-    driver", "[G0903]", "kernels run on the CPU" } },
      { "GPULUA_FAKE_INIT=100", 0, { "-    driver", "CUDA_ERROR_NO_DEVICE", "nvidia-smi" } },
      { "GPULUA_FAKE_INIT=34", 0, { "-    driver", "[G0902]", "stub" } },
      { "GPULUA_FAKE_INIT=803", 1, { "bad  driver", "[G0905]", "reboot" } },
      { "GPULUA_FAKE_INIT=804", 1, { "bad  driver", "[G0906]" } },
      { "GPULUA_FAKE_INIT=802", 1, { "bad  driver", "[G0907]", "fabric manager" } },
      { "GPULUA_FAKE_INIT=999", 1, { "bad  driver", "[G0908]", "container" } },
      { "GPULUA_FAKE_INIT=3", 1, { "bad  driver", "[G0909]" } },
      { "GPULUA_FAKE_VERSION=11000", 1, { "bad  driver", "[G0904]", "12.0" } },
      { "GPULUA_FAKE_MISSING=cuLaunchKernel", 1, { "bad  driver", "[G0904]", "cuLaunchKernel" } },
      { "GPULUA_FAKE_MEMORY=1000000", 0, { "ok   cuda:0" } },
    }
    for _, case in ipairs(CASES) do
      it("with a driver: " .. (case[1] == "" and "that works" or case[1]), function()
        local r = run("doctor", ("GPULUA_LIBCUDA=%s %s"):format(sh.quote(fake), case[1]))
        for _, part in ipairs(case[3]) do has(r.out, part) end
        has(r.out, "ok   cpu")
        assert.are.equal("", r.err)
        assert.are.equal(case[2], r.status)
      end)
    end

    it("is useful without a driver", function()
      local r = run("doctor", "GPULUA_LIBCUDA=/nowhere/libcuda.so.1")
      for _, part in ipairs { "ok   gpulua", "ok   lua", "ok   llvm", "ok   cpu", "driver", "[G0901]", "help: ", "cache" } do
        has(r.out, part)
      end
      assert.are.equal(0, r.status)
    end)

    it("tells about a cache that cannot be written", function()
      local r = run("doctor", "GPULUA_CACHE=/proc/nowhere")
      has(r.out, "-    cache")
      has(r.out, "not writable")
      assert.are.equal(0, r.status)
    end)

    for _, word in ipairs { "", "off", "none", "0" } do
      it(("tells about a cache that is disabled: GPULUA_CACHE=%s"):format(word), function()
        has(run("doctor", "GPULUA_CACHE=" .. word).out, "disabled")
      end)
    end
    it("takes a path for a folder, whatever its last name", function()
      has(run("doctor", "GPULUA_CACHE=./off").out, "cache        ./off")
    end)

    it("takes no words", function() assert.are.equal(2, run("doctor now").status) end)
  end)

  describe("cache", function()
    it("tells and empties", function()
      local environment = "GPULUA_DEVICE=cpu GPULUA_CACHE=" .. folder .. "/cache"
      assert.are.equal(0, run("cache", environment).status)
      local script = "local gpu = require 'gpulua' local k = gpu.kernels [[" .. SIMT ..
        "]] local x = gpu.ones{8} k.vecadd(x, x, gpu.zeros{8}):sync()"
      sh.write(folder .. "/launch.lua", script)
      local launched = run("launch.lua", environment)
      assert.are.same({ out = "", err = "", status = 0 }, launched)
      assert.is_truthy(tonumber(run("cache", environment).out:match("(%d+) entries")))
      local cleared = run("cache clear", environment)
      has(cleared.out, " 0 entries")
      assert.are.equal(0, cleared.status)
    end)
    it("takes clear alone", function()
      assert.are.equal(2, run("cache wipe").status)
      assert.are.equal(2, run("cache clear all").status)
    end)
  end)

  describe("help", function()
    it("lists the commands", function()
      local r = run("help")
      golden("help.txt", r.out)
      assert.are.equal(0, r.status)
      for _, word in ipairs { "--help", "-h", "-e 'print(1)' --help", "--help nowhere.lua" } do
        assert.are.same(r, run(word))
      end
    end)
    it("names each environment variable that the sources ask for, as README does", function()
      local out, readme, count = run("help").out, sh.read("README.md"), 0
      for _, name in ipairs(sh.lines(sh.check("grep -rhoE '\"(GPULUA_[A-Z]+|NO_COLOR)\"' core dsl codegen runtime lua"))) do
        name = name:gsub('"', "")
        count = count + 1
        has(out, "       " .. name .. " ")
        has(readme, "| `" .. name .. "` |")
      end
      assert.is_true(count >= 6)
    end)
    it("is what a command prints that is asked for help", function()
      for _, command in ipairs { "check", "emit", "doctor", "explain", "cache", "help" } do
        local want = run("help " .. command).out
        has(want, "usage: gpulua " .. command)
        for _, words in ipairs { " --help", " -h", " good.rs --help" } do
          assert.are.same({ out = want, err = "", status = 0 }, run(command .. words))
        end
      end
    end)
    it("tells about one", function()
      local r = run("help emit")
      has(r.out, "gpulua emit --stage")
      assert.is_nil(r.out:find("gpulua check", 1, true))
    end)
    it("knows no other", function()
      local r = run("help chekc")
      has(r.err, "no command is named 'chekc', but 'check' is")
      assert.are.equal(2, r.status)
      has(run("help nosuch").err, "no command is named 'nosuch'\n")
    end)
  end)

  describe("at the prompt", function()
    it("reports show the lines that were typed", function()
      sh.write(folder .. "/typed", [[
gpu = require 'gpulua'
k = gpu.kernels "#[kernel] fn f(x: &[f32], mut z: DisjointSlice<f32>) {}"
x = gpu.zeros { 4 }
k.f(x,
  x)
p = x:partition { 2 }
k.f(x, x)
function g() k.f(1, 2) end
g()
]])
      local err = run("-i <typed", "GPULUA_DEVICE=cpu").err
      has(err, "1 | k.f(x,\n  |     - immutable borrow occurs here, for parameter `x`\n2 |   x)\n  |   ^ mutable")
      has(err, "1 | k.f(x, x)\n  |     ^ value used here after move\n")
      has(err, "1 | p = x:partition { 2 }\n  |     - value moved here\n")
      has(err, "1 |\n  | ^ argument 1, `x`") -- of a function that was typed before
      has(run([[-e 'gpu = require "gpulua"' -e 'gpu.zeros { 4 }:reshape { 3 }']]).err, "1 | gpu.zeros { 4 }:reshape { 3 }\n")
    end)
  end)

  describe("the first word", function()
    it("is a command where only a folder has its name", function()
      has(run("check good.rs").out, "checked 2 kernels")
    end)
    it("is a script where a file has its name", function()
      local _, status = sh.run(("cd %s/scripts && %s doctor a >../out"):format(folder, sh.quote(program)))
      assert.are.equal("a script named doctor\ta\n", sh.read(folder .. "/out"))
      assert.are.equal(0, status)
    end)
    it("is a script by a path", function()
      assert.are.equal("a script named doctor\t1\n", run("scripts/doctor 1").out)
    end)
    it("is answered with a command where it is nearly one and no file", function()
      local r = run("chekc good.rs")
      has(r.err, "cannot open chekc: No such file or directory (did you mean `gpulua check`?)\n")
      assert.are.equal(1, r.status)
      has(run("nowhere").err, "cannot open nowhere: No such file or directory\n")
      has(run("./chekc").err, "cannot open ./chekc: No such file or directory\n")
    end)
    it("is no command behind an option", function()
      local r = run("-e '' check good.rs")
      has(r.err, "check")
      assert.are.equal(1, r.status)
    end)
  end)

  describe("starting", function()
    it("loads no driver and opens no device", function()
      if not sh.has("strace") then return pending("strace is not installed") end
      if (sh.cache("GPULUA_SANITIZE") or "") ~= "" then return end -- the leak checker traces too
      local _, status = sh.run(("strace -f -e trace=openat,open,execve -o %s/trace %s -e ''"):format(folder, sh.quote(program)))
      if status ~= 0 then return pending("strace may not trace here") end
      local trace = sh.read(folder .. "/trace")
      has(trace, "execve")
      for _, name in ipairs { "libcuda", "/dev/nvidia", "/dev/dxg", "libreadline" } do
        assert.is_nil(trace:find(name, 1, true), name)
      end
    end)

    it("takes 15 ms at most in a release build", function()
      if not (sh.cache("CMAKE_BUILD_TYPE") or ""):find("^Rel") then return end
      local best = math.huge
      for _ = 1, 20 do
        local printed = sh.check(("bash -c 'TIMEFORMAT=%%R; time %s -e \"\"'"):format(program))
        best = math.min(best, tonumber(printed))
      end
      assert.is_true(best <= 0.015, best .. " s")
    end)
  end)
end)
