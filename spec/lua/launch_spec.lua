-- Which checks a launch makes instead of its kernel: ranges of indices over a grid of four blocks.
local gpu = require "gpulua"

local BLOCKS = 4
local KERNEL = [[
  #[tile]
  fn read(z: &mut Tensor<i32, {[1]}>, x: &Tensor<i32, {[-1]}>) {
      let p = x.partition(shape![1]);
      let i = program_id(0);
      let n = num_tiles(&p, 0);
      %s
      z.store(sum);
  }
]]
local ONE = "let sum = p.load([%s]);"
local LOOP = "let mut sum = constant(0, shape![1]); for j in %s { sum = sum + p.load([j]); }"

-- The index; the tiles that it takes for the launch to see that each is in range, nil: none do; otherwise
-- the kernel checks, and `fails` says for how many tiles it finds a wrong one.
local CASES = {
  { "0", 1 }, { "3", 4 },
  { "i", 4, 3 }, { "2 * i + 1", 8, 7 }, { "i * i", 10, 9 }, { "3 - i", 4, 3 }, { "i - 1", nil, 8 }, { "i / 2 + 1", 3, 2 },
  { "i % 3", 3, 2 }, { "i % 9", 4, 3 }, { "min(i, 1)", 2, 1 }, { "max(i - 2, 0)", 2, 1 },
  { "n - 1 - i", 4, 3 }, { "(i as i64 * 2) as i32", 7, 6 },
  { "i * 1000000000 / 1000000000", nil, 3 }, { "(i + 2147483646) / 2147483646", nil, 8 }, { "i ^ 1", nil, 3 },
  { "if i < 2 { i } else { 0 }", nil, 1 }, { "num_programs(0) - 1 - i", 4, 3 },
  { "0..i + 1", 4, 3, LOOP }, { "i..2 * i", 6, 5, LOOP }, { "0..((i + 1) * 64 + 31) / 32", 8, 7, LOOP },
  { "0..n", 1, nil, LOOP }, { "n - 4..n", 4, 3, LOOP }, { "i - 1..4", nil, 8, LOOP }, { "4..i", 3, nil, LOOP },
}

local function launch(kernel, tiles)
  local z = gpu.zeros({ BLOCKS }, "i32")
  local ok, err = pcall(function() kernel(z:tiles { 1 }, gpu.ones({ tiles }, "i32")):sync() end)
  return ok or err.code, kernel:inspect("ptx", "sm_80"):find "gp_report" == nil
end

describe("the checks of a launch", function()
  for _, case in ipairs(CASES) do
    local index, tiles, fails, form = table.unpack(case, 1, 4)
    it("know " .. index, function()
      local kernel = gpu.kernels(KERNEL:format((form or ONE):format(index))).read
      if tiles then assert.are.same({ true, true }, { launch(kernel, tiles) }) end
      if tiles and tiles > 1 then assert.is_false((select(2, launch(kernel, tiles - 1)))) end
      if not tiles then assert.is_false((select(2, launch(kernel, 64)))) end
      if fails then assert.are.equal("G0402", (launch(kernel, fails))) end
    end)
  end

  -- Rows of a matrix by tiles of 2 x 4 along a grid of two by two, and the same shifted by one row of tiles.
  local function copies()
    return gpu.kernels [[
      #[tile]
      fn copy(z: &mut Tensor<i32, {[2, 4]}>, x: &Tensor<i32, {[-1, -1]}>) { z.store(x.load_like(z) + x.load_like(z)); }
      #[tile]
      fn next(z: &mut Tensor<i32, {[2, 4]}>, x: &Tensor<i32, {[-1, -1]}>) {
          z.store(x.load_tile(shape![2, 4], [program_id(0) + 1, program_id(1)]));
      }
      #[tile]
      fn some(z: &mut Tensor<i32, {[2, 4]}>, x: &Tensor<i32, {[-1, -1]}>, row: i32) {
          z.store(x.load_tile(shape![2, 4], [row, program_id(1)]));
      }
    ]]
  end

  -- The last element that was written, how many instances were made, and how many accesses are known to be whole.
  local function run(kernel, rows, columns, ...)
    local z, x = gpu.zeros({ rows, columns }, "i32"), gpu.ones({ rows, columns }, "i32")
    local from = gpu.compile_stats().instantiated
    kernel(z:tiles { 2, 4 }, x, ...):sync()
    local made = gpu.compile_stats().instantiated - from
    local _, whole = kernel:inspect("ir"):gsub("%[whole%]", "")
    return { z:to_table()[rows][columns], made, whole }
  end

  it("know tiles that are whole", function()
    local k = copies()
    assert.are.same({ 2, 1, 3 }, run(k.copy, 4, 8))
    assert.are.same({ 2, 1, 0 }, run(k.copy, 3, 8))
    assert.are.same({ 2, 0, 0 }, run(k.copy, 5, 12))
    assert.are.same({ 2, 0, 3 }, run(k.copy, 6, 12))
    k = copies()
    assert.are.same({ 2, 1, 0 }, run(k.copy, 3, 8))
    assert.are.same({ 2, 0, 0 }, run(k.copy, 4, 8)) -- what is there does
  end)

  it("know tiles that are not", function()
    assert.are.same({ 0, 1, 0 }, run(copies().next, 4, 8))
    assert.are.same({ 1, 1, 1 }, run(copies().some, 4, 8, 1)) -- the store alone
    assert.are.same({ 0, 1, 1 }, run(copies().some, 4, 8, 2))
  end)
end)
