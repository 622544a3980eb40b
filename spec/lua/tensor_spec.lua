-- Tensors as a script sees them: making, printing, elements, views, copies, memory.
local gpu = require "gpulua"
assert(gpu.device(os.getenv "GPULUA_DEVICE" or "cpu"))

local DTYPES = { "f64", "f32", "f16", "bf16", "tf32", "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f8e5m3fnu", "f4e2m1fn", "i64", "i32", "i16", "i8", "i4", "u64", "u32", "u16", "u8", "bool" }

local function message_of(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok, "an error is expected")
  return type(err) == "userdata" and err.message or err
end

-- The error that f raises has this text.
local function refuses(text, f, ...)
  local message = message_of(f, ...)
  assert(message:find(text, 1, true), ("%q is not in %q"):format(text, message))
end

describe("making a tensor", function()
  it("fills it with a constant", function()
    assert.are.same({ 0, 0, 0 }, gpu.zeros({ 3 }):to_table())
    assert.are.same({ { 1, 1 }, { 1, 1 } }, gpu.ones({ 2, 2 }):to_table())
    assert.are.same({ 7, 7 }, gpu.full({ 2 }, 7, "i8"):to_table())
    assert.are.same({ 0, 0 }, gpu.zeros(2):to_table())
    assert.are.same({ true, true }, gpu.full({ 2 }, true, "bool"):to_table())
  end)

  it("takes the dtype in the shape's table too", function()
    assert.are.equal("f16", gpu.zeros({ 2, dtype = "f16" }).dtype)
    assert.are.equal("i32", gpu.ones({ 2, dtype = "f16" }, "i32").dtype)
  end)

  it("has every dtype", function()
    for _, dtype in ipairs(DTYPES) do
      local t = gpu.ones({ 3 }, dtype)
      assert.are.equal(dtype, t.dtype)
      local one = dtype == "bool" and true or 1
      assert.are.same({ one, one, one }, t:to_table())
      assert.are.equal(t:to_bytes(), gpu.from_bytes(t:to_bytes(), { 3 }, dtype):to_bytes())
    end
  end)

  it("counts", function()
    assert.are.same({ 0, 1, 2, 3 }, gpu.arange(4):to_table())
    assert.are.same({ 2, 4, 6 }, gpu.arange(2, 8, 2, "i32"):to_table())
    assert.are.same({ 3, 2, 1 }, gpu.arange(3, 0, -1):to_table())
    assert.are.same({}, gpu.arange(5, 5):to_table())
    assert.are.same({ 0, 0.25, 0.5, 0.75, 1 }, gpu.linspace(0, 1, 5):to_table())
    assert.are.same({ 4 }, gpu.linspace(4, 9, 1):to_table())
    assert.are.same({ { 1, 0, 0 }, { 0, 1, 0 } }, gpu.eye(2, 3):to_table())
  end)

  it("draws the same numbers after the same seed", function()
    gpu.seed(5)
    local a, b = gpu.rand { 100 }, gpu.randn { 100 }
    gpu.seed(5)
    assert.are.equal(a:to_bytes(), gpu.rand({ 100 }):to_bytes())
    assert.are.equal(b:to_bytes(), gpu.randn({ 100 }):to_bytes())
    gpu.seed(6)
    assert.are_not.equal(a:to_bytes(), gpu.rand({ 100 }):to_bytes())
    for _, v in ipairs(a:to_table()) do assert(v >= 0 and v < 1) end
  end)

  it("draws numbers with the moments of their distributions", function()
    gpu.seed(1)
    local n = 20000
    local function moments(t)
      local sum, squares = 0, 0
      for _, v in ipairs(t:to_table()) do sum, squares = sum + v, squares + v * v end
      return sum / n, squares / n - (sum / n) ^ 2
    end
    local mean, variance = moments(gpu.rand { n })
    assert(math.abs(mean - 0.5) < 0.01 and math.abs(variance - 1 / 12) < 0.003)
    mean, variance = moments(gpu.randn { n })
    assert(math.abs(mean) < 0.03 and math.abs(variance - 1) < 0.05)
  end)

  it("takes nested tables", function()
    local t = gpu.from_table { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.are.same({ 2, 3 }, t.shape)
    assert.are.same({ { 1, 2, 3 }, { 4, 5, 6 } }, t:to_table())
    assert.are.same({ 0 }, gpu.from_table({}).shape)
  end)

  it("takes booleans", function()
    assert.are.equal("bool", gpu.from_table({ true, false }).dtype)
    assert.are.same({ { true }, { false } }, gpu.from_table({ { true }, { false } }):to_table())
    assert.are.same({ 1, 0 }, gpu.from_table({ true, false }, "f32"):to_table())
    assert.are.equal(255, gpu.arange(256, "u8")[256])
    assert.are.same({ 4, 4 }, gpu.full(2, 4):to_table())
  end)

  it("refuses what is no shape, dtype or value", function()
    refuses("extent -1 is negative", gpu.zeros, { -1 })
    refuses("a shape holds integers", gpu.zeros, { "a" })
    refuses("a shape holds integers", gpu.zeros, { 1.5 })
    refuses("rank 9 is more than", gpu.zeros, { 1, 1, 1, 1, 1, 1, 1, 1, 1 })
    refuses("table expected", gpu.zeros, "x")
    refuses("unknown dtype 'f33'; dtypes are f64, f32, f16", gpu.zeros, { 1 }, "f33")
    refuses("7.5 is no value of f4e2m1fn", gpu.full, { 1 }, 7.5, "f4e2m1fn")
    refuses("-1 is no value of f8e8m0fnu", gpu.full, { 1 }, -1, "f8e8m0fnu")
    refuses("-1 is no value of f8e5m3fnu", gpu.full, { 1 }, -1, "f8e5m3fnu")
    refuses("120000 is no value of f8e5m3fnu", gpu.full, { 1 }, 120000, "f8e5m3fnu")
    refuses("300 is no value of u8", gpu.full, { 1 }, 300, "u8")
    refuses("1.5 is no value of i32", gpu.full, { 1 }, 1.5, "i32")
    refuses("is no value of f32", gpu.full, { 1 }, "x")
    refuses("a table of 2 elements is expected on axis 2", gpu.from_table, { { 1, 2 }, { 3 } })
    refuses("is no value of i8", gpu.from_table, { 1, 200 }, "i8")
    refuses("unknown field 'type': beside the extents there is `dtype`", gpu.zeros, { 4, type = "f16" })
    refuses("unknown field 'dtype'", gpu.zeros { 4 }.reshape, gpu.zeros { 4 }, { 2, 2, dtype = "f16" })
    for _, f in ipairs { gpu.zeros, gpu.ones, gpu.empty, gpu.rand, gpu.randn } do
      refuses("a shape is one table: {4, 5}", f, 4, 5)
    end
    local t = gpu.zeros { 4, 4 }
    refuses("a shape is one table: {2, 8}", function() t:reshape(2, 8) end)
    refuses("an order of axes is one table: {2, 1}", function() t:permute(2, 1) end)
    refuses("the shape of a tile is one table: {2, 2}", function() t:tiles(2, 2) end)
    refuses("a range is {first, last}", function() t:slice { 1, 2, 3 } end)
    refuses("a list of values is expected, not a key 'a'", gpu.from_table, { a = 1 })
    refuses("a list of values is expected, not a key 'a'", gpu.from_table, { 1, 2, a = 1 })
    local odd = setmetatable({}, { __len = function() return -1 end, __index = function() return 2 end })
    for _, f in ipairs { gpu.zeros, gpu.from_table, gpu.addresses } do
      refuses("a list has -1 elements", f, odd)
    end
    refuses("a list has -1 elements", gpu.zeros({ 4 }).reshape, gpu.zeros { 4 }, odd)
    refuses("256 is no value of u8", gpu.arange, 300, "u8")
    refuses("-1 is no value of u8", gpu.arange, -1, 3, "u8")
    refuses("0.5 is no value of i32", gpu.arange, 0, 1, 0.5, "i32")
    refuses("the step is zero", gpu.arange, 1, 2, 0)
    refuses("random numbers are floats", gpu.rand, { 2 }, "i32")
    refuses("3 bytes are not the shape's elements of f32", gpu.from_bytes, "abc", { 1 })
    refuses("a bool is stored as 0 or 1", gpu.from_bytes, "\2", { 1 }, "bool")
  end)

  it("refuses more than there is", function()
    local ok, err = pcall(gpu.zeros, { 1 << 40, 1 << 20 })
    assert.is_false(ok)
    assert.are.equal("userdata", type(err))
    ok, err = pcall(gpu.zeros, { 1 << 46 })
    assert.is_false(ok)
    assert(tostring(err):find("memory", 1, true), tostring(err))
    assert.are.equal(4, gpu.zeros({ 4 }).numel) -- and goes on
  end)
end)

describe("a tensor", function()
  it("has fields", function()
    local t = gpu.zeros({ 2, 3 }, "f16")
    assert.are.same({ 2, 3 }, t.shape)
    assert.are.equal(2, t.ndim)
    assert.are.equal(6, t.numel)
    assert.are.equal(12, t.bytes)
    assert.are.equal(2, #t)
    assert.are.equal(gpu.device().name, t.device)
    assert.are_not.equal(0, t.address)
    assert.is_nil(t.nothing)
    refuses("a tensor has no field 'x' to assign", function() t.x = 1 end)
  end)

  it("prints what it is", function()
    local device = gpu.device().name
    assert.are.equal("tensor{3} f32 " .. device .. "  [0, 1, 2]", tostring(gpu.arange(3)))
    assert.are.equal("tensor{1000} i32 " .. device .. "  [0, 1, 2, ..., 998, 999]", tostring(gpu.arange(1000, "i32")))
    assert.are.equal("tensor{2, 2} bool " .. device .. "\n[[true, false],\n [false, true]]", tostring(gpu.eye(2, "bool")))
    assert.are.equal("tensor{0} f32 " .. device .. "  []", tostring(gpu.zeros { 0 }))
    assert.are.equal("tensor{0, 9} f32 " .. device .. "\n[]", tostring(gpu.zeros { 0, 9 }))
    local row = "[[],\n  []]"
    local rows = ("[R,\n R,\n R,\n ...,\n R,\n R]"):gsub("R", row)
    assert.are.equal(("tensor{%d, 2, 0} f32 %s\n%s"):format(math.maxinteger, device, rows), tostring(gpu.zeros { math.maxinteger, 2, 0 }))
    assert.are.equal("tensor{} f32 " .. device .. "  5", tostring(gpu.full({}, 5)))
    assert.are.equal("tensor{4} f32 " .. device .. "  [nan, inf, -inf, 0.1]",
      tostring(gpu.from_table { 0 / 0, math.huge, -math.huge, 0.1 }):gsub("%-nan", "nan"))
    assert.are.equal("tensor{1} u64 " .. device .. "  [18446744073709551615]", tostring(gpu.from_bytes(("\255"):rep(8), { 1 }, "u64")))
    local rank3 = tostring(gpu.zeros { 2, 2, 2 })
    assert.are.equal("tensor{2, 2, 2} f32 " .. device .. "\n[[[0, 0],\n  [0, 0]],\n [[0, 0],\n  [0, 0]]]", rank3)
  end)

  it("gives and takes elements, counting from 1", function()
    local t = gpu.from_table { { 1, 2 }, { 3, 4 } }
    assert.are.equal(3, t[{ 2, 1 }])
    t[{ 2, 1 }] = 9
    assert.are.same({ { 1, 2 }, { 9, 4 } }, t:to_table())
    local v = gpu.arange(3)
    v[3] = 7.5
    assert.are.equal(7.5, v[3])
    assert.are.equal(5, gpu.full({ 1, 1 }, 5):item())
    local flags = gpu.zeros({ 2 }, "bool")
    flags[2] = true
    assert.are.same({ false, true }, flags:to_table())
  end)

  it("is walked by ipairs", function()
    local got = {}
    for i, v in ipairs(gpu.from_table { 5, 6, 7 }) do got[i] = v end
    assert.are.same({ 5, 6, 7 }, got)
    for _ in ipairs(gpu.zeros { 0 }) do error "it has no element" end
    refuses("index 4 is out of 1..3", function() return gpu.zeros { 3 }[4] end)
  end)

  it("refuses what is no index", function()
    local t, m = gpu.arange(3), gpu.zeros { 2, 2 }
    refuses("index 0 is out of 1..3 on axis 1 (tensors count from 1; kernels from 0)", function() return t[0] end)
    refuses("index 4 is out of 1..3 on axis 1", function() return t[4] end)
    refuses("index 3 is out of 1..2 on axis 2", function() return m[{ 1, 3 }] end)
    refuses("a tensor of rank 2 wants 2 indices in a table", function() return m[1] end)
    refuses("2 indices are expected", function() return m[{ 1 }] end)
    refuses("an index is an integer", function() return t[1.5] end)
    refuses("item() wants a tensor of one element", function() return t:item() end)
    refuses("is no value of f32", function() t[1] = {} end)
    refuses("no value of u8", function() gpu.zeros({ 1 }, "u8")[1] = -1 end)
  end)

  it("shares its memory with views", function()
    local t = gpu.arange(12)
    local m = t:reshape { 3, 4 }
    m[{ 2, 3 }] = 100
    assert.are.equal(100, t[7])
    local column = m:slice(nil, 2)
    assert.are.same({ { 1 }, { 5 }, { 9 } }, column:to_table())
    local line = column:reshape { 3 }
    assert.are.same({ 1, 5, 9 }, line:to_table())
    assert.are.same({ 4 }, line.strides)
    assert.are.same({ { { 1 }, { 5 }, { 9 } } }, line:reshape({ 1, 3, 1 }):to_table())
    assert.are.same({ 12, 4, 1 }, line:reshape({ 1, 3, 1 }).strides)
    local side = m:slice(nil, { 2, 3 })
    assert.are.same({ { { 1, 2 } }, { { 5, 100 } }, { { 9, 10 } } }, side:reshape({ 3, 1, 2 }):to_table())
    refuses("cannot reshape `side`", function() side:reshape { 6 } end)
    refuses("cannot reshape `side`", function() side:reshape { 2, 3 } end)
    local corner = m:slice({ 2, 3 }, { 3, 4 })
    assert.are.same({ { 100, 7 }, { 10, 11 } }, corner:to_table())
    corner:fill(0)
    assert.are.same({ 0, 1, 2, 3, 4, 5, 0, 0, 8, 9, 0, 0 }, t:to_table())
    local turned = m:permute { 2, 1 }
    assert.are.same({ 4, 3 }, turned.shape)
    assert.are.equal(m[{ 3, 2 }], turned[{ 2, 3 }])
    assert.are.same(m:to_table(), turned:permute({ 2, 1 }):to_table())
    assert.are.same({ 3, 4 }, t:view({ 3, 4 }).shape)
  end)

  it("refuses views that there are not", function()
    local t = gpu.zeros { 3, 4 }
    assert.are.equal("G0310", select(2, pcall(t.reshape, t, { 5 })).code)
    refuses("range {0, 3} is outside of axis 1 of `t`, whose extent is 3", function() t:slice { 0, 3 } end)
    refuses("range {5, 5} is outside of axis 2 of `t`, whose extent is 4", function() t:slice(nil, 5) end)
    refuses("{2, 2} is not a permutation of the axes of `t`", function() t:permute { 2, 2 } end)
    refuses("{0, 1} is not a permutation of the axes of `t`", function() t:permute { 0, 1 } end)
    for _, f in ipairs {
      function() t:slice { math.mininteger, 1 } end, function() t:slice { 1, math.mininteger } end, function() t:slice { math.maxinteger, math.maxinteger } end,
      function() t:slice(math.mininteger) end, function() t:slice { 2, 5 } end, function() t:slice { 0, 1 } end, function() t:slice(9) end,
      function() t:permute { 1, 1 } end, function() t:permute { 1 } end, function() t:permute { 1, 3 } end,
      function() t:slice("x") end, function() t:slice(nil, nil, nil) end,
    } do
      assert.is_false((pcall(f)))
    end
  end)

  it("copies", function()
    local t = gpu.arange(6):reshape({ 2, 3 }):permute { 2, 1 }
    local c = t:copy()
    assert.are.same(t:to_table(), c:to_table())
    c:fill(1)
    assert.are.same({ { 0, 3 }, { 1, 4 }, { 2, 5 } }, t:to_table())
    c:copy_from(t)
    assert.are.same(t:to_table(), c:to_table())
    assert.is_false((pcall(c.copy_from, c, gpu.zeros { 2, 2 })))
    assert.is_false((pcall(c.copy_from, c, gpu.zeros({ 3, 2 }, "f16"))))
  end)

  it("goes to another device and back", function()
    local t = gpu.randn { 3, 5 }
    local there = assert(t:to "interp")
    assert.are.equal("interp", there.device)
    assert.are.equal(t:to_bytes(), there:to_bytes())
    assert.are.equal(there, there:to "interp")
    local back = there:to(gpu.device().name)
    assert.are.equal(t:to_bytes(), back:to_bytes())
    local none, err = t:to "cuda:77"
    assert.is_nil(none)
    assert.are.equal("userdata", type(err))
  end)

  it("is counted in the device's memory", function()
    collectgarbage()
    local before = gpu.memory().used
    local t = gpu.zeros { 1 << 20 }
    assert.are.equal(before + (4 << 20), gpu.memory().used)
    t:free()
    assert.are.equal(before, gpu.memory().used)
    do
      local u <close> = gpu.zeros { 1 << 20 }
      assert.are.equal(before + (4 << 20), gpu.memory().used)
      assert.are.equal(1 << 20, u.numel)
    end
    assert.are.equal(before, gpu.memory().used)
  end)

  it("is found by the collector before the device is full", function()
    -- 20,000 tensors of 64 MiB that nothing holds: 1.2 TiB in all.
    collectgarbage()
    local most = 0
    for i = 1, 20000 do
      gpu.empty { 16 << 20 }
      if i % 16 == 0 then most = math.max(most, gpu.memory().used) end
    end
    assert(most <= gpu.memory().total // 2, ("%d MiB of %d were in use"):format(most >> 20, gpu.memory().total >> 20))
  end)
end)

describe("a partition", function()
  it("tells its tile and its grid", function()
    local t = gpu.zeros { 100, 30 }
    local p = t:tiles { 16, 8 }
    assert.are.same({ 16, 8 }, p:tile())
    assert.are.same({ 7, 4 }, p:grid())
    assert.are.equal("partition f32 of [100, 30] in tiles of [16, 8]", tostring(p))
    assert.are.equal(0, t[{ 1, 1 }]) -- still usable
  end)

  it("gives its tensor back", function()
    local t = gpu.arange(8)
    local p = t:partition { 4 }
    assert.are.equal("E0382", select(2, pcall(t.to_table, t)).code)
    local back = p:unpartition()
    assert.are.same({ 0, 1, 2, 3, 4, 5, 6, 7 }, back:to_table())
    assert.are.equal(3, t[4])
    assert.is_false((pcall(p.unpartition, p)))
  end)
end)
