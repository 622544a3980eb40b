-- Kernels, ops, streams and errors as a script sees them.
local gpu = require "gpulua"
assert(gpu.device(os.getenv "GPULUA_DEVICE" or "cpu"))

local KERNELS = [[
  #[tile]
  fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
      z.store(x.load_like(z) + y.load_like(z));
  }
  #[tile]
  fn copies<T: ElementType, const B: i32>(z: &mut Tensor<T, {[B]}>, x: &Tensor<T, {[-1]}>) {
      z.store(x.load_like(z));
  }
  #[kernel]
  fn fill(v: f32, mut z: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      if let Some(out) = z.get_mut(idx) { *out = v; }
  }
  #[kernel]
  fn both(v: f32, mut y: DisjointSlice<f32>, mut z: DisjointSlice<f32>) {
      let i = thread::index_1d();
      if let Some(out) = y.get_mut(i) { *out = v; }
      let j = thread::index_1d();
      if let Some(out) = z.get_mut(j) { *out = -v; }
  }
  #[kernel]
  fn block_of(mut z: DisjointSlice<u32>) {
      let idx = thread::index_1d();
      if let Some(out) = z.get_mut(idx) { *out = thread::blockDim_x() * 1000 + thread::gridDim_x(); }
  }
  #[kernel]
  fn nth(x: &[f32], at: u32, mut z: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      if let Some(out) = z.get_mut(idx) { *out = x[at as usize]; }
  }
]]

local k = gpu.kernels(KERNELS)

describe("a name that is not there", function()
  local k = gpu.kernels "#[kernel] fn add(mut z: DisjointSlice<f32>) {} #[kernel] fn scale(n: u32) {}" -- luacheck: ignore 431
  local z = gpu.zeros { 4 }

  it("is nil", function()
    for _, value in ipairs { gpu, k, k.add, z, z:tiles { 2 }, gpu.stream(), gpu.device() } do
      assert.is_nil(value.nothing_of_the_kind)
      assert.is_nil(value._M)
    end
    assert.is_nil(gpu[1])
    assert.is_nil(gpu.foo)
    assert.is_nil(k.subtract)
  end)

  it("is an error when it is near one that is", function()
    local function refuses(text, f)
      local ok, err = pcall(f)
      assert.is_false(ok)
      assert.is_truthy(tostring(err):find(text, 1, true), err)
    end
    refuses("gpulua.Module has no `ad`; did you mean `add`?", function() return k.ad end)
    refuses("gpulua has no `kernals`; did you mean `kernels`?", function() return gpu.kernals end)
    refuses("gpulua.Tensor has no `reshpe`; did you mean `reshape`?", function() z:reshpe { 2, 2 } end)
    refuses("gpulua.Tensor has no `shap`; did you mean `shape`?", function() return z.shap end)
    refuses("gpulua.Partition has no `unpartiton`; did you mean `unpartition`?",
      function() return z:tiles { 2 }:unpartiton() end)
    refuses("gpulua.Kernel has no `wiht`; did you mean `with`?", function() k.add:wiht { block = 1 } end)
    refuses("gpulua.Op has no `snyc`; did you mean `sync`?", function()
      local op = k.scale:with { grid = 1, block = 1 } (1)
      op:run()
      op:snyc()
    end)
    refuses("gpulua has no `tensor`; did you mean `from_table`?", function() return gpu.tensor { 1, 2 } end)
    refuses("gpulua.Tensor has no `numpy`; did you mean `to_table`?", function() return z:numpy() end)
    refuses("unknown dtype 'float32'; did you mean 'f32'?", function() return gpu.zeros({ 4 }, "float32") end)
    refuses("unknown dtype 'f31'; dtypes are f64, f32, ", function() return gpu.zeros({ 4 }, "f31") end)
    refuses("kernels are given as text", function() return gpu.kernels "mine/add.rs" end)
    refuses("gpulua.Device has no `produkt`; did you mean `product`?", function() return gpu.device().produkt end)
  end)
end)

describe("gpu.kernels", function()
  it("gives the kernels by name and in order", function()
    local names = {}
    assert.are.equal(k.add, debug.getmetatable(k).__index(k, "add", 1))
    for name, kernel in pairs(k) do
      names[#names + 1] = name
      assert.are.equal("kernel " .. name, tostring(kernel))
    end
    assert.are.same({ "add", "copies", "fill", "both", "block_of", "nth" }, names)
    assert.are.equal("kernels { add, copies, fill, both, block_of, nth }", tostring(k))
    assert.is_nil(k.nothing)
    assert.are.equal(k.add, k.add)
  end)

  it("raises the report, try_kernels gives it", function()
    local ok, raised = pcall(gpu.kernels, "#[kernel] fn f() { x }")
    assert.is_false(ok)
    local module, err = gpu.try_kernels("#[kernel] fn f() { x }", "mine.rs")
    assert.is_nil(module)
    assert.are.equal("E0425", raised.code)
    assert.are.equal("E0425", err.code)
    assert.are.equal("cannot find value `x` in this scope", err.message)
    assert.are.equal("mine.rs", err.file)
    assert.are.equal(1, err.line)
    assert.are.equal(20, err.column)
    assert.are.equal("fn", type(gpu.try_kernels) == "function" and "fn")
    assert.are.equal("userdata", type(gpu.try_kernels "#[kernel] fn f() {}"))
  end)

  it("points into the script", function()
    local line = debug.getinfo(1, "l").currentline
    local _, err = gpu.try_kernels [[
      #[kernel]
      fn f(x: &[f32]) {
          let v: i32 = x[0];
      }
    ]]
    assert.are.equal("E0308", err.code)
    assert(err.file:find "kernel_spec%.lua$")
    assert.are.equal(line + 4, err.line)
    assert.are.equal(24, err.column)
  end)
end)

describe("an error", function()
  local _, err = gpu.try_kernels("#[kernel]\nfn f() {\n    x;\n    y;\n}\n", "two.rs")

  it("has every diagnostic", function()
    assert.are.equal(2, #err.diagnostics)
    assert.are.same({ code = "E0425", message = "cannot find value `x` in this scope", file = "two.rs", line = 3, column = 5 },
      err.diagnostics[1])
    assert.are.equal(4, err.diagnostics[2].line)
    assert.is_string(err.status)
    assert(err.traceback:find "stack traceback")
    assert.is_nil(err.nothing)
  end)

  it("renders, in colours if asked", function()
    local plain = err:render()
    assert(plain:find("error[E0425]: cannot find value `x` in this scope\n --> two.rs:3:5\n", 1, true))
    assert.is_nil(plain:find "\27")
    assert(err:render(true):find "\27%[")
    assert.are.equal(2, select(2, plain:gsub("error%[", "")))
    assert(tostring(err):find("stack traceback", 1, true))
  end)

  it("is JSON, one object a line", function()
    local lines = {}
    for line in err:json():gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.are.equal(2, #lines)
    for _, line in ipairs(lines) do
      assert(line:find '^{.*"E0425".*}$')
      assert(line:find '"two.rs"')
    end
  end)

  it("outlives its module and the collector", function()
    local kept = select(2, gpu.try_kernels("fn f( {", "gone.rs"))
    collectgarbage()
    collectgarbage()
    assert(kept:render():find("gone.rs", 1, true))
  end)
end)

describe("with", function()
  it("fixes generics and the launch, for many calls", function()
    local z = gpu.zeros({ 100 }, "u32")
    local fixed = k.block_of:with { grid = { 3 }, block = { 64 } }
    for _ = 1, 3 do
      fixed(z):sync()
      assert.are.equal(64003, z[100])
    end
    k.block_of:with { block = 32 }(z):sync()
    assert.are.equal(32004, z[1])
    k.block_of(z):sync()
    assert.are.equal(256001, z[1])
  end)

  it("adds to what is fixed", function()
    local z = gpu.zeros({ 10 }, "u32")
    k.block_of:with({ grid = 2 }):with({ block = 128 })(z):sync()
    assert.are.equal(128002, z[1])
  end)

  it("takes generics by name", function()
    local x, z = gpu.arange(10, "i16"), gpu.zeros({ 10 }, "i16")
    k.copies:with { T = "i16", B = 8 }(z:tiles { 8 }, x):sync()
    assert.are.same(x:to_table(), z:to_table())
    assert.are.equal("G0340", select(2, pcall(k.copies.with, k.copies, { U = "i16" })).code)
  end)

  it("asks for a schedule, over that of the kernel", function()
    local m = gpu.kernels [[
      #[tile(warps = 4, stages = 3)]
      fn own<const B: i32>(z: &mut Tensor<f32, {[B]}>) { z.store(z.load() + 1.0); }
      #[cutile::entry(optimization_hints = (sm_80 = (num_worker_warps_per_cta = 2),
                                            sm_90 = (num_worker_warps_per_cta = 16, num_cta_in_cga = 2)))]
      fn hinted<const B: i32>(z: &mut Tensor<f32, {[B]}>) { z.store(z.load() + 1.0); }
    ]]
    local function header(kernel, options, target)
      options.B = 8
      return kernel:with(options):inspect("ir", target or "sm_90"):match("block 1 1 1(.-) %(")
    end
    assert.are.equal(", warps 4, stages 3", header(m.own, {}))
    assert.are.equal(", warps 8, stages 3, cluster 2, persistent 1",
      header(m.own, { warps = 8, cluster = { 2 }, persistent = false }))
    assert.are.equal(", warps 4, stages 3", header(m.own, { warps = 0 }))
    assert.are.equal(", warps 16, stages 2, cluster 2", header(m.hinted, { stages = 2 }))
    assert.are.equal(", warps 2", header(m.hinted, {}, "sm_80"))
    assert.are.equal("", header(m.hinted, {}, "cpu"))
    local z = gpu.zeros { 8 }
    m.own:with { warps = 1 }(z:tiles { 8 }):sync()
    m.own:with { persistent = true }(z:tiles { 8 }):sync()
    assert.are.equal(2, z[1])
  end)

  it("says how much fits the warps that were asked for", function()
    local m = gpu.kernels [[
      #[tile]
      fn own<const B: i32>(z: &mut Tensor<f32, {[B]}>) { z.store(z.load() + 1.0); }
    ]]
    for _, case in ipairs { { 4096, 1, "2048", "1 warp", ", or more warps" }, { 16384, 4, "8192", "4 warps", ", or more warps" }, { 65536, nil, "32768", "16 warps", "" } } do
      local extent, asked, words, warps, more = table.unpack(case)
      local own = m.own:with { B = extent, warps = asked }
      local _, err = pcall(own.inspect, own, "ptx", "sm_80")
      assert.are.equal("G0503", err.code)
      local text = ("at most %s 32-bit words fit %s\n    = help: use smaller tiles%s\n"):format(words, warps, more)
      assert.is_truthy(tostring(err):find(text, 1, true), tostring(err))
    end
  end)

  it("takes lists by name", function()
    local f = gpu.kernels([[
      #[tile]
      fn count<const S: [i32; 2], const N: i32>(z: &mut Tensor<i32, {[N]}>) {
          z.store(iota(shape![N]) + (S[0] * 100 + S[1]).broadcast(shape![N]));
      }
    ]]).count
    local z = gpu.zeros({ 4 }, "i32")
    f:with { S = { 7, 5 } }(z:tiles { 4 }):sync()
    assert.are.same({ 705, 706, 707, 708 }, z:to_table())
    assert.are.equal("G0328", select(2, pcall(f:with { S = { 7 } }, z:tiles { 4 })).code)
    local _, err = pcall(f.with, f, { S = { 7, "x" } })
    assert.is_truthy(tostring(err):find('`S` wants an integer, got "x"', 1, true))
    _, err = pcall(f.with, f, { S = {} })
    assert.is_truthy(tostring(err):find("`S` wants one to 6 integers", 1, true))
    f:with { S = { 14 / 2, 5.0 } }(z:tiles { 4 }):sync()
    assert.are.same({ 705, 706, 707, 708 }, z:to_table())
  end)

  it("takes integers as any number with such a value, and names what it got else", function()
    local f = gpu.kernels([[ #[tile] fn one<const N: i32>(z: &mut Tensor<f32, {[N]}>) { z.store(constant(1.0f32, shape![N])); } ]])
    local z = gpu.zeros { 32 }
    f.one:with { N = 64 / 2 }(z:tiles { 32 }):sync()
    f.one:with { N = 2 ^ 5, grid = { 1.0 } }(z:tiles { 32 }):sync()
    local function refuses(options, text)
      local _, err = pcall(f.one.with, f.one, options)
      assert.is_truthy(tostring(err):find(text, 1, true), tostring(err))
    end
    refuses({ N = 2.5 }, "`N` wants an integer, got 2.5")
    refuses({ grid = 1.5 }, "`grid` wants an integer, got 1.5")
    refuses({ block = "a" }, '`block` wants an integer, got "a"')
    refuses({ grid = 2 ^ 40 }, "`grid` wants extents from 1 to 4294967295, got 1099511627776")
    refuses({ warps = "8" }, '`warps` wants an integer, got "8"')
    local _, err = pcall(f.one, f, z)
    assert.is_truthy(tostring(err):find("kernels are called with a dot", 1, true))
  end)

  it("are explained by name, and a name that is none is refused with what is near", function()
    assert.is_truthy(gpu.help("tiles"):find("t:tiles{n, ..}", 1, true))
    local _, err = pcall(gpu.help, "tielss")
    assert.is_truthy(err:find("nothing is called `tielss`; did you mean `tiles`?", 1, true), err)
  end)

  it("shows where a text was given that stands nowhere", function()
    local _, err = pcall(gpu.kernels, (("fn f() { $T }"):gsub("%$T", "y")))
    assert.is_truthy(err.file:find("kernel_spec.lua:%d+%]$"), err.file)
  end)

  it("refuses an operator that the element type lacks", function()
    local twice = gpu.kernels([[
      #[tile]
      fn twice<T: ElementType, const B: i32>(z: &mut Tensor<T, {[B]}>, x: &Tensor<T, {[-1]}>) {
          z.store(x.load_like(z) + x.load_like(z));
      }
    ]]).twice
    local x, z = gpu.ones({ 8 }, "bool"), gpu.zeros({ 8 }, "bool")
    local ok, err = pcall(twice, z:tiles { 8 }, x)
    assert.is_false(ok)
    assert.are.equal("G0251", err.code)
    local y, w = gpu.ones({ 8 }, "u8"), gpu.zeros({ 8 }, "u8")
    twice(w:tiles { 8 }, y):sync()
    assert.are.equal(2, w[8])
  end)

  it("compiles each variant once", function()
    local module, x, z = gpu.kernels(KERNELS), gpu.arange(1000), gpu.zeros { 1000 }
    local before = gpu.compile_stats().instantiated
    for _ = 1, 5 do module.add(z:tiles { 256 }, x, x):sync() end
    assert.are.equal(before + 1, gpu.compile_stats().instantiated)
    module.add(z:tiles { 128 }, x, x):sync()
    assert.are.equal(before + 2, gpu.compile_stats().instantiated)
  end)

  it("leaves to the launch the checks that extents and the grid decide", function()
    -- Each load twice: the optimizer makes one check of both.
    local sums = gpu.kernels([[
      #[tile]
      fn sums(z: &mut Tensor<f32, {[1]}>, x: &Tensor<f32, {[-1, -1]}>, _: i32) {
          let p = x.partition(shape![1, 4]);
          let row = program_id(0);
          let mut sum = constant(0.0f32, shape![1]);
          for i in 0..num_tiles(&p, 1) { sum = sum + reduce_sum(p.load([row, i]) + p.load([row, i]), 1); }
          z.store(sum);
      }
      #[tile]
      fn at(z: &mut Tensor<f32, {[1]}>, x: &Tensor<f32, {[-1, -1]}>, at: i32) {
          let p = x.partition(shape![1, 4]);
          z.store(reduce_sum(p.load([program_id(0), at]), 1));
      }
    ]])
    local x, z = gpu.ones { 3, 8 }, gpu.zeros { 3 }
    local function ask(kernel, given)
      local from = gpu.compile_stats().instantiated
      local ok, err = pcall(function() kernel(z:tiles { 1 }, given, 0):sync() end)
      local ptx = kernel:inspect("ptx", "sm_80")
      return ok or err, gpu.compile_stats().instantiated - from, ptx:find "gp_report" ~= nil
    end
    assert.are.same({ true, 1, false }, { ask(sums.sums, x) })
    assert.are.equal(16, z[3])
    local err, made, is_checked = ask(sums.sums, gpu.ones { 2, 8 })
    assert.are.equal("G0402", err.code)
    assert.is_truthy(tostring(err):find("there are 2 tiles on axis 0 but the index is 2", 1, true))
    assert.are.same({ 1, true }, { made, is_checked })
    z:fill(0)
    assert.are.same({ true, 0, false }, { ask(sums.sums, x) })
    assert.are.equal(16, z[3])
    assert.are.equal("G0402", (ask(sums.sums, gpu.ones { 1, 8 })).code)
    z:fill(0)
    assert.are.same({ true, 1, true }, { ask(sums.at, x) }) -- a scalar decides nothing
  end)

  it("takes a stream", function()
    local s, z = gpu.stream(), gpu.zeros { 10 }
    k.fill:with { stream = s }(2, z):run()
    s:sync()
    assert.is_true(s:is_idle())
    assert.are.equal(2, z[10])
  end)
end)

describe("inspect", function()
  it("shows the stages", function()
    local fill = k.fill:with { grid = 1 }
    fill(1, gpu.zeros { 4 }):sync()
    assert(fill:inspect("ir"):find("fill", 1, true))
    assert(fill:inspect("llvm"):find("define", 1, true))
    assert(fill:inspect("ptx", "sm_90a"):find(".visible .entry", 1, true))
    assert(#fill:inspect("asm", "cpu") > 0)
    assert(gpu.kernels("#[kernel] fn f() {}", "").f:inspect("ptx", "sm_90a"):find(".file", 1, true))
    assert.is_false((pcall(fill.inspect, fill, "x")))
    local ok, err = pcall(fill.inspect, fill, "ptx", "sm_1")
    assert.is_false(ok)
    assert(tostring(err):find("unknown target 'sm_1'; targets are cpu, interp, sm_80", 1, true), err)
  end)
end)

describe("an op", function()
  it("is lazy until it is run", function()
    local z = gpu.zeros { 4 }
    local op = k.fill(3, z)
    assert.are.equal("op (made, not run)", tostring(op))
    assert.is_false(op:is_done())
    assert.are.equal(op, op:run())
    op:sync()
    assert.are.equal("op (done)", tostring(op))
    assert.is_true(op:is_done())
    assert.are.same({ 3, 3, 3, 3 }, z:to_table())
  end)

  it("gives what it wrote, in the order of the parameters", function()
    local y, z = gpu.zeros { 4 }, gpu.zeros { 4 }
    local a, b, c = k.both(2, y, z):sync()
    assert.are.equal(y, a)
    assert.are.equal(z, b)
    assert.is_nil(c)
    assert.are.same({ 2, -2 }, { y[1], z[1] })
  end)

  it("runs on streams, which tensors put in order", function()
    local a, b, z, x = gpu.stream(), gpu.stream(), gpu.zeros { 1000 }, gpu.zeros { 1000 }
    for i = 1, 20 do
      k.fill(i, x):run(a)
      k.add(z:tiles { 128 }, x, x):run(b)
    end
    assert.are.equal(40, z[1000])
    k.fill(7, x):sync_on(a)
    assert.are.equal(7, x[1])
    local op = k.fill(8, x)
    assert.is_false((pcall(op.sync_on, op)))
    op:sync()
  end)

  it("can be awaited by coroutines", function()
    local done, z = {}, {}
    local function worker(i)
      z[i] = gpu.zeros { 1 << 16 }
      local written = k.fill(i, z[i]):await()
      assert(written == z[i])
      done[#done + 1] = i
    end
    local threads = {}
    for i = 1, 4 do threads[i] = coroutine.wrap(worker) end
    local turns, left = 0, { 1, 2, 3, 4 }
    for i = 1, 4 do threads[i](i) end
    while #done < 4 do
      turns = turns + 1
      assert(turns < 1e7, "the workers never end")
      for _, i in ipairs(left) do
        local is_done = false
        for _, d in ipairs(done) do is_done = is_done or d == i end
        if not is_done then threads[i]() end
      end
    end
    for i = 1, 4 do assert.are.equal(i, z[i][1]) end
    assert.are.equal(5, k.fill(5, z[1]):await()[1]) -- outside a coroutine it waits
  end)

  it("raises its failed check once, and the device goes on", function()
    local x, z = gpu.arange(10), gpu.zeros { 4 }
    local op = k.nth(x, 10, z):run()
    local ok, err = pcall(op.sync, op)
    assert.is_false(ok)
    assert.are.equal("G0401", err.code)
    assert.are.equal("index out of bounds: the length is 10 but the index is 10", err.message)
    assert(err.file:find "kernel_spec%.lua$")
    assert.is_false((pcall(z.to_table, z))) -- what it wrote has failed
    gpu.sync() -- which was told already
    local y = gpu.zeros { 4 }
    k.nth(x, 9, y):sync()
    assert.are.same({ 9, 9, 9, 9 }, y:to_table())
    z:fill(0)
    k.nth(x, 3, z):sync()
    assert.are.same({ 3, 3, 3, 3 }, z:to_table())
  end)
end)

describe("gpu", function()
  it("tells its operations", function()
    local names = {}
    for _, op in ipairs(gpu.ops()) do
      names[op.name] = op
      assert(#op.doc > 10 and op.doc:find "%.$", op.name)
      assert.is_table(op.dtypes)
    end
    assert.are.equal(16, #names.add.dtypes)
    assert.is_true(names.add.elementwise and names.add.tracks.tile and names.add.tracks.simt)
    assert.is_false(names.thread_id.tracks.tile)
    assert.are.same({ "i64", "i32", "i16", "i8", "i4", "u64", "u32", "u16", "u8" }, names.shl.dtypes)
  end)

  it("tells its devices", function()
    local d = gpu.device()
    assert.are.equal(d.name, tostring(d))
    assert.is_string(d.kind)
    local none, err = gpu.device "nowhere"
    assert.is_nil(none)
    assert.are.equal("userdata", type(err))
    assert.are.equal(d.name, gpu.device().name)
    assert.is_number(gpu.gpus())
    assert(gpu.memory().total > 0 and gpu.clock() > 0)
  end)

  it("measures", function()
    local z = gpu.zeros { 100 }
    local b = gpu.bench(function() k.fill(1, z):run() end, { warmup_ms = 1, rep_ms = 5 })
    assert(b.median > 0 and b.min <= b.median and b.median <= b.max and b.calls >= 15)
  end)
end)

describe("tune", function()
  -- The slow choices do a thousand times the work. The number makes the code new to the disk.
  local m = gpu.kernels(([[
    #[tile]
    fn work<const B: i32, const N: i32>(z: &mut Tensor<f32, {[B]}>) {
        let mut t = z.load();
        for _i in 0..N { t = t * 0.5 + %.6f; }
        z.store(t);
    }
    #[kernel]
    fn ones(mut z: DisjointSlice<f32>) {
        let idx = thread::index_1d();
        if let Some(out) = z.get_mut(idx) { *out = 1.0; }
    }
  ]]):format(os.time() % 1000000 + gpu.clock() % 1))
  local z = gpu.zeros { 4096 }
  local function of(choice) return z:tiles { choice.B } end

  it("finds the fastest and keeps it for this code, these shapes and these choices", function()
    local choices = { { N = 4000, B = 64 }, { N = 4, B = 64 }, { N = 4000, B = 128, warps = 2 } }
    local best, choice, seconds = gpu.tune(m.work, choices, of)
    assert.are.equal(choices[2], choice)
    assert(seconds > 0)
    best(of(choice)):sync()
    choice, seconds = select(2, gpu.tune(m.work, choices, of))
    assert.are.equal(choices[2], choice)
    assert.is_nil(seconds)
    local two = { choices[1], choices[2] }
    assert.is_number(select(3, gpu.tune(m.work, two, z:tiles { 64 })))
    local other = gpu.zeros { 2048 }
    assert.is_number(select(3, gpu.tune(m.work, two, other:tiles { 64 })))
    assert.is_nil(select(3, gpu.tune(m.work, two, other:tiles { 64 })))
  end)

  it("leaves out what does not fit the device", function()
    local choices = { { block = 2048 }, { block = 128 } }
    assert.are.equal(choices[2], select(2, gpu.tune(m.ones, choices, z)))
    assert.are.equal("G0304", select(2, pcall(gpu.tune, m.ones, { choices[1] }, z)).code)
  end)

  it("passes mistakes on", function()
    assert.are.equal("G0340", select(2, pcall(gpu.tune, m.work, { { Q = 1 } }, z:tiles { 64 })).code)
    assert.are.equal("G0325", select(2, pcall(gpu.tune, m.work, { {} }, z:tiles { 64 })).code)
    for _, choices in ipairs { {}, { 1 } } do
      assert(not pcall(gpu.tune, m.work, choices, z:tiles { 64 }))
    end
  end)

  it("tells what a launch takes", function()
    local info = m.ones:info(z)
    assert.are.equal(gpu.device().name, info.device)
    if gpu.device().kind == "cpu" then assert.is_nil(info.registers) end
    assert.are.equal("E0061", select(2, pcall(m.ones.info, m.ones)).code)
  end)
end)

describe("a graph", function()
  local m = gpu.kernels [[
    #[tile]
    fn twice<const B: i32>(z: &mut Tensor<f32, {[B]}>) { z.store(z.load() * 2.0); }
    #[kernel]
    fn add(x: &[f32], y: &[f32], mut z: DisjointSlice<f32>) {
        let idx = thread::index_1d();
        let i = idx.get();
        if let Some(out) = z.get_mut(idx) { *out = x[i] + y[i]; }
    }
  ]]
  local x, y, z = gpu.arange(8), gpu.ones { 8 }, gpu.zeros { 8 }

  it("runs nothing until it is launched, then all in order, as often as wanted", function()
    local g = gpu.graph(function()
      m.add:run(x, y, z)
      m.twice(z:tiles { 4 }):run()
    end)
    assert.are.equal(2, #g)
    assert.are.equal("graph (2 launches)", tostring(g))
    assert.are.equal(0, z[8])
    g:launch()
    assert.are.equal(16, z[8])
    g.args.x:fill(4)
    local s = gpu.stream()
    assert.are.equal(g, g:launch(s):launch():sync())
    assert.are.equal(10, z[8])
    assert.is_nil(g.args.w)
    assert(not pcall(function() return g.lanch end))
  end)

  it("is made of an op too, which counts as run", function()
    local op = m.add(y, y, z)
    local g = op:graph()
    assert.are.equal("E0382", select(2, pcall(op.run, op)).code)
    z:fill(0)
    g:launch()
    assert.are.equal(2, z[1])
  end)

  it("keeps its tensors, and borrows them only while it is enqueued", function()
    local g
    do
      local t = gpu.ones { 8 }
      g = gpu.graph(function() m.add:run(t, t, z) end)
    end
    collectgarbage()
    collectgarbage()
    z:fill(5)
    g:launch()
    assert.are.equal(2, z[3])
    local p = z:partition { 4 }
    assert.are.equal("E0382", select(2, pcall(g.launch, g)).code)
    p:unpartition()
    g:launch()
    g.args.x:free()
    assert.are.equal("G0302", select(2, pcall(g.launch, g)).code)
  end)

  it("raises the failed check of a replay, again and again", function()
    local four = gpu.ones { 4 }
    local g = gpu.graph(function() m.add:run(x, four, z) end)
    for _ = 1, 3 do
      z:fill(0)
      g:launch()
      assert.are.equal("G0401", select(2, pcall(z.to_table, z)).code)
      assert.are.equal("G0401", select(2, pcall(g.sync, g)).code)
    end
    z:fill(0)
    assert.are.equal(0, z[1])
  end)

  it("takes launches alone", function()
    for _, f in ipairs {
      function() end, function() print(z) end, function() z:fill(1) end, function() x:copy() end,
      function() m.add(x, y, z):sync() return z[1] end, function() gpu.graph(print) end,
    } do
      local ok, err = pcall(gpu.graph, function() return f() end)
      assert.is_false(ok)
      assert.are.equal("G0343", err.code)
    end
    assert.are.equal("mine", select(2, pcall(gpu.graph, function() error("mine", 0) end)))
    m.add:run(y, y, z) -- nothing records any more
    assert.are.equal(2, z[1])
  end)
end)
