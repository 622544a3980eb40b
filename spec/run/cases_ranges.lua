-- Ranges that loops go through: their ends and every chain of .rev() and .step_by(k), against lists in Lua.
local gpu = require "gpulua"

-- The loop folds its items in order, so that a wrong, missing or misplaced one shows.
local KERNEL = [[
  #[tile]
  fn fold(z: &mut Tensor<i32, {[1]}>, a: $T, b: $T, k: $T) {
      let mut n = 0i64;
      let mut acc = 0i64;
      for i in $iter {
          n += 1;
          acc = acc * 31 + (i as i64) + n;
      }
      z.store(((acc % 1000003) as i32).broadcast(shape![1]));
  }
]]

local function fold(items)
  local acc = 0
  for n, i in ipairs(items) do acc = acc * 31 + i + n end
  return math.fmod(acc, 1000003)
end

local function items(first, last)
  local list = {}
  for i = first, last do list[#list + 1] = i end
  return list
end

local function rev(list)
  local out = {}
  for i = #list, 1, -1 do out[#out + 1] = list[i] end
  return out
end

local function step(list, k)
  local out = {}
  for i = 1, #list, k do out[#out + 1] = list[i] end
  return out
end

local RANGES = {
  { "a..b", function(a, b) return items(a, b - 1) end },
  { "a..=b", items },
  { "(a..b).rev()", function(a, b) return rev(items(a, b - 1)) end },
  { "(a..=b).rev()", function(a, b) return rev(items(a, b)) end },
  { "(a..b).rev().rev()", function(a, b) return items(a, b - 1) end },
  { "(a..b).step_by(k as usize)", function(a, b, k) return step(items(a, b - 1), k) end },
  { "(a..=b).step_by(k as usize)", function(a, b, k) return step(items(a, b), k) end },
  { "(a..b).rev().step_by(k as usize)", function(a, b, k) return step(rev(items(a, b - 1)), k) end },
  { "(a..b).step_by(k as usize).rev()", function(a, b, k) return rev(step(items(a, b - 1), k)) end },
  { "(a..b).step_by(2).step_by(k as usize).rev()", function(a, b, k) return rev(step(step(items(a, b - 1), 2), k)) end },
}
local CALLS = { { 0, 10, 3 }, { 0, 0, 1 }, { 5, 3, 2 }, { 2, 9, 1 }, { 1, 8, 7 }, { 0, 9, 100 } }

local function result(kernel, a, b, k)
  local z = gpu.zeros({ 1 }, "i32")
  kernel(z:tiles { 1 }, a, b, k):sync()
  return z[1]
end

local function check_ranges(h, dtype, greatest)
  for _, range in ipairs(RANGES) do
    local text = KERNEL:gsub("%$(%w+)", { T = dtype, iter = range[1] })
    local kernel = gpu.kernels(text, range[1]).fold
    local calls = table.move(CALLS, 1, #CALLS, 1, {})
    calls[#calls + 1] = { greatest - 7, greatest, 3 } -- the next step would overflow
    for _, call in ipairs(calls) do
      local got, want = result(kernel, table.unpack(call)), fold(range[2](table.unpack(call)))
      h.check(got == want, "%s of %s with %s: %d, expected %d", range[1], dtype, table.concat(call, ", "), got, want)
    end
    h.mutant(result(kernel, 0, 10, 3) == fold(range[2](1, 10, 3)), range[1])
  end
end

return function(h)
  for dtype, greatest in pairs { i32 = (1 << 31) - 1, u32 = (1 << 32) - 1, i64 = 1 << 40, u8 = 255, i8 = 127 } do
    h.group("ranges." .. dtype, function() check_ranges(h, dtype, greatest) end)
  end
  h.group("ranges.step_zero", function()
    local kernel = gpu.kernels((KERNEL:gsub("%$(%w+)", { T = "i32", iter = "(a..b).step_by(k as usize)" })), "zero").fold
    local ok, err = pcall(result, kernel, 0, 10, 0)
    h.check(not ok and err.code == "G0404" and tostring(err):find "step != 0" ~= nil, "a step of zero: %s", tostring(err))
    h.check(result(kernel, 0, 10, -1) == fold { 0 }, "a step beyond the end")
  end)
end
