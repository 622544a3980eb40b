-- Tensors converted, seen as other types, and cut so that a launch covers a part; random numbers that
-- are the same wherever they are drawn.
local gpu = require "gpulua"
assert(gpu.device(os.getenv "GPULUA_DEVICE" or "cpu"))

local function refuses(text, f)
  local ok, err = pcall(f)
  assert(not ok, "an error is expected")
  -- The marks of the report alone: it shows this very line too.
  local report = {}
  for line in (tostring(err) .. "\n"):gmatch "([^\n]*)\n" do
    if line:find "%^" or line:find "^error" or line:find "bad argument" then report[#report + 1] = line end
  end
  report = table.concat(report, "\n")
  assert(report:find(text, 1, true), ("%q is not in %q"):format(text, report))
end

describe("fields of a tensor", function()
  it("tell how its elements lie", function()
    local t = gpu.zeros({ 2, 3, 4 })
    assert.are.same({ 12, 4, 1 }, t.strides)
    assert.is_true(t.is_contiguous)
    local turned = t:permute { 3, 1, 2 }
    assert.are.same({ 1, 12, 4 }, turned.strides)
    assert.is_false(turned.is_contiguous)
    assert.is_true(t:slice(1).is_contiguous)
  end)
end)

describe("a table of addresses", function()
  it("is of tensors that are there", function()
    local a, b = gpu.zeros { 2 }, gpu.ones { 3 }
    assert.are.same({ a.address, b.address }, gpu.addresses({ a, b }):to_table())
    assert.are.same({ a.address }, gpu.addresses({ a }, 1):to_table())
    refuses("a list of tensors is expected", function() gpu.addresses { a, 1 } end)
    refuses("a list of values is expected, not a key 'x'", function() gpu.addresses { a, x = b } end)
    b:free()
    refuses("error[G0302]", function() gpu.addresses { a, b } end)
    local p = a:partition { 2 }
    refuses("error[E0382]", function() gpu.addresses { a } end)
    p:unpartition()
  end)
end)

describe("borrowed memory", function()
  local lender = function() return refuses end
  local place = debug.upvalueid(lender, 1)

  it("is where the address says, on the device that is named", function()
    local x = gpu.borrow(place, { 2, 4, dtype = "u8" }, nil, { device = "cpu", keep = lender, readonly = true })
    assert.are.equal("u8", x.dtype)
    assert.are.equal("cpu", x.device)
    assert.are.same({ 2, 4 }, x.shape)
    assert.are.equal(("%p"):format(place), ("0x%x"):format(x.address))
    local bytes = x:to_bytes()
    x:free()
    local columns = gpu.borrow(place, { 4, 2 }, "u8", { device = "cpu", keep = lender, readonly = true, strides = { 1, 4 }, bytes = 8 })
    assert.are.equal(bytes, columns:permute({ 2, 1 }):to_bytes())
    assert.are.same({ 1, 4 }, columns.strides)
    columns:free()
  end)

  it("does not count as the device's", function()
    local used = gpu.memory().used
    local x <close> = gpu.borrow(place, { 8 }, "u8", { device = "cpu", keep = lender, readonly = true })
    assert.are.equal(used, gpu.memory().used)
    assert.are.equal(8, x.bytes)
  end)

  it("has arguments of a kind", function()
    refuses("bad argument #1 to 'borrow' (an address is an integer or a light userdata)", function() gpu.borrow("x", { 8 }) end)
    refuses("bad argument #1 to 'borrow' (an address is an integer or a light userdata)", function() gpu.borrow(64.5, { 8 }) end)
    refuses("bad argument #2 to 'borrow' (extent -1 is negative)", function() gpu.borrow(64, { -1 }) end)
    refuses("bad argument #3 to 'borrow' (unknown dtype 'f33'", function() gpu.borrow(64, { 8 }, "f33") end)
    for text, options in pairs {
      ["unknown option 'stride'; did you mean 'strides'?"] = { stride = { 1 } },
      ["unknown option '1'"] = { true },
      ["`bytes` is a number, not a string"] = { bytes = "8" },
      ["`bytes` is an integer, 0 or more"] = { bytes = -8 },
      ["`strides` is a table, not a number"] = { strides = 1 },
      ["1 `strides` are expected, one for each axis"] = { strides = { 1, 2 } },
      ["`strides` holds integers"] = { strides = { "one" } },
      ["`device` is a string, not a userdata"] = { device = gpu.device() },
      ["`readonly` is a boolean, not a number"] = { readonly = 1 },
    } do
      refuses("bad argument #4 to 'borrow' (" .. text .. ")", function() gpu.borrow(64, { 8 }, "f32", options) end)
    end
    local x, err = gpu.borrow(64, { 8 }, "f32", { device = "cuda:63" })
    assert.is_nil(x)
    assert.is_truthy(err.code)
  end)
end)

describe("convert", function()
  it("makes each element what `as` makes of it", function()
    local t = gpu.from_table { { 1.5, -2.5, 300 }, { 0, 1e10, -1 } }
    assert.are.same({ { 1, -2, 300 }, { 0, 2147483647, -1 } }, t:convert("i32"):to_table())
    assert.are.same({ { 1, 0, 255 }, { 0, 255, 0 } }, t:convert("u8"):to_table())
    assert.are.same({ { true, true, true }, { false, true, true } }, t:convert("bool"):to_table())
    assert.are.same({ { 1.5, -2.5, 300 }, { 0, math.huge, -1 } }, t:convert("f16"):to_table())
    assert.are.same({ { 1.5, -2.5, 300 }, { 0, 1e10, -1 } }, t:to_table())
  end)

  it("takes views and what is empty", function()
    local t = gpu.from_table { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.are.same({ { 1, 4 }, { 2, 5 }, { 3, 6 } }, t:permute({ 2, 1 }):convert("i64"):to_table())
    assert.are.same({ { 5, 6 } }, t:slice(2, { 2, 3 }):convert("u16"):to_table())
    assert.are.same({}, gpu.zeros({ 0 }):convert("i8"):to_table())
  end)

  it("says what is wrong", function()
    local t = gpu.zeros { 4 }
    refuses("bad argument #1 to 'convert'", function() t:convert() end)
    refuses("unknown dtype 'f33'", function() t:convert "f33" end)
    local p = t:partition { 2 }
    refuses("use of moved value: `t`", function() t:convert "i32" end)
    p:unpartition()
  end)
end)

describe("reinterpret", function()
  it("sees the same bytes as another type", function()
    local t = gpu.from_table({ 1, 2 }, "f32")
    local bits = t:reinterpret "u32"
    assert.are.same({ 0x3f800000, 0x40000000 }, bits:to_table())
    bits[1] = 0x40400000
    assert.are.equal(3, t[1])
    assert.are.same({ 0, 0, 64, 64, 0, 0, 0, 64 }, t:reinterpret("u8", { 8 }):to_table())
    assert.are.equal(0x4000000040400000, t:reinterpret("i64", { 1 }):item())
  end)

  it("says what is wrong", function()
    local t = gpu.zeros { 6 }
    refuses("the bytes are not as many", function() t:reinterpret("f64", { 4 }) end)
    refuses("cannot reshape `t` from [6] to [4] of f64", function() t:reinterpret("f64", { 4 }) end)
    refuses("its first element is not aligned for that type", function() t:slice({ 2, 5 }):reinterpret("f64", { 2 }) end)
    refuses("its elements do not lie one after another", function() t:reshape({ 2, 3 }):permute({ 2, 1 }):reinterpret "i32" end)
    refuses("a bool is 0 or 1, other bytes are none", function() t:reinterpret("bool", { 24 }) end)
    refuses("bad argument #1 to 'reinterpret'", function() t:reinterpret() end)
  end)
end)

describe("a partition's prefix", function()
  local k = gpu.kernels [[
    #[tile]
    fn ones<const B: i32>(z: &mut Tensor<f32, {[B]}>) { z.store(constant(1.0, shape![B])); }
    #[tile]
    fn both<const B: i32>(y: &mut Tensor<f32, {[B]}>, z: &mut Tensor<f32, {[B]}>) {
        y.store(constant(1.0, shape![B]));
        z.store(constant(2.0, shape![B]));
    }
  ]]

  it("is what a launch with a grid of its own covers", function()
    local z = gpu.zeros { 7 }
    k.ones:with({ grid = 2 })(z:tiles({ 2 }):prefix()):sync()
    assert.are.same({ 1, 1, 1, 1, 0, 0, 0 }, z:to_table())
    k.ones:with({ grid = 4 })(z:tiles({ 2 }):prefix()):sync()
    assert.are.same({ 1, 1, 1, 1, 1, 1, 1 }, z:to_table())
  end)

  it("follows the other partitions' grid", function()
    local y, z = gpu.zeros { 4 }, gpu.zeros { 8 }
    k.both(y:tiles { 2 }, z:tiles({ 2 }):prefix()):sync()
    assert.are.same({ 1, 1, 1, 1 }, y:to_table())
    assert.are.same({ 2, 2, 2, 2, 0, 0, 0, 0 }, z:to_table())
  end)

  it("is never more than the partition has, and gives no grid", function()
    local z = gpu.zeros { 7 }
    refuses("a partition that is covered in part gives no grid", function() k.ones(z:tiles({ 2 }):prefix()) end)
    refuses("the grid is (5, 1, 1), but argument 1, `z`, has (4, 1, 1) tiles: too few on axis 0", function()
      k.ones:with({ grid = 5 })(z:tiles({ 2 }):prefix())
    end)
    refuses("the grid is given as (2, 1, 1), but argument 1, `z`, has (4, 1, 1) tiles", function()
      k.ones:with({ grid = 2 })(z:tiles { 2 })
    end)
  end)
end)

describe("random numbers", function()
  local file = assert(io.open "lua/library/random.rs")
  local k = gpu.kernels(file:read "a", "random.rs")
  file:close()

  it("are those of the kernels that a GPU draws them with", function()
    for _, dtype in ipairs { "f64", "f32", "f16", "bf16", "tf32", "f8e4m3fn", "f8e5m2" } do
      for _, n in ipairs { 1, 7, 1025, 4099 } do
        gpu.seed(0x123456789abcdef)
        local x, y = gpu.zeros({ n }, dtype), gpu.zeros({ n }, dtype)
        k.uniform(x:tiles { 256 }, 0x123456789abcdef, 0, 0):sync()
        k.normal(y:tiles { 256 }, 0x123456789abcdef, 1, 0):sync()
        assert.are.equal(x:to_bytes(), gpu.rand({ n }, dtype):to_bytes(), dtype .. " uniform")
        assert.are.equal(y:to_bytes(), gpu.randn({ n }, dtype):to_bytes(), dtype .. " normal")
      end
    end
  end)

  it("go on where an earlier launch of a long tensor ended", function()
    local whole, part = gpu.zeros { 600 }, gpu.zeros { 344 }
    for _, name in ipairs { "uniform", "normal" } do
      k[name](whole:tiles { 256 }, 7, 3, 0):sync()
      k[name](part:tiles { 256 }, 7, 3, 256):sync()
      assert.are.equal(whole:slice({ 257, 600 }):to_bytes(), part:to_bytes())
    end
  end)

  it("are Philox's", function()
    -- The first block of seed 0, of the published test vectors.
    gpu.seed(0)
    local words = { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 }
    for i, v in ipairs(gpu.rand({ 4 }, "f64"):to_table()) do assert.are.equal((words[i] >> 8) * 2.0 ^ -24, v) end
  end)

  it("are refused of other types", function()
    for _, dtype in ipairs { "i32", "bool", "f4e2m1fn" } do
      refuses("random numbers are floats", function() gpu.rand({ 2 }, dtype) end)
    end
  end)
end)
