-- Quotients that are found side by side: to the last bit, of whatever size.
local gpu = require "gpulua"
local quotients = require "quotients"
local f32, bits = quotients.f32, quotients.bits

local KERNELS = [[
#[tile]
fn by_one<const N: i32>(z: &mut Tensor<f32, {[N]}>, x: &Tensor<f32, {[-1]}>, d: f32) { z.store(x.load_like(z) / d); }

#[tile]
fn by_row<const N: i32>(z: &mut Tensor<f32, {[1, N]}>, x: &Tensor<f32, {[-1, -1]}>, d: &Tensor<f32, {[-1, -1]}>) {
    let divisor = d.load_tile(shape![1, 1], [program_id(0), 0]).broadcast(shape![1, N]);
    z.store(x.load_like(z) / divisor);
}

#[tile]
fn by_constants<const N: i32>(z: &mut Tensor<f32, {[N]}>, x: &Tensor<f32, {[-1]}>) {
    let t = x.load_like(z);
    z.store(match program_id(0) { 0 => t / 8.0, 1 => t / -7.52316384526264e-37, 2 => t / 3.0, 3 => t / -7e-30, _ => t / 1.7014118346046923e38 });
}
]]
local CONSTANTS = { 8, -0x1p-120, 3, -7e-30, 0x1p127 }
local WIDE = 512
local STEPS = { WIDE + 1, 13, 1 }

-- Many are hard to divide by `d`; `is_small`: all near to some size below the least that is always divided fast, or above it.
-- Every `step`-th is special.
local function dividends(d, step, is_small)
  local values, hard, special, size = {}, quotients.hard(d), quotients.special, math.random(-126, -72)
  for i = 1, WIDE do
    local a = i % 2 == 0 and hard[i % #hard + 1] or f32(1 + math.random())
    values[i] = a * (math.random(2) * 2 - 3) * 2.0 ^ (is_small and size + i % 3 or math.random(-70, 100))
    if i % step == 0 then values[i] = special[i // step % #special + 1] end
  end
  return values
end

local function compare(h, what, values, d, got)
  for i, v in ipairs(values) do
    local want = f32(v / d)
    h.check(bits(got[i]) == bits(want), "%s: %a / %a is %a, not %a", what, v, d, got[i], want)
  end
end

-- Quotients in the middle of two numbers, which only those below 2^-126 can be.
local function ties()
  local values = {}
  for i = 1, WIDE do values[i] = (2 * math.random(2 ^ 20, 2 ^ 21 - 1) + 1) * 3 * 2.0 ^ -100 end
  return values, 3 * 2.0 ^ 50
end

local function by_one(h, k)
  for row = 1, 2 * #quotients.special + 80 do
    local odd = quotients.odd()
    local values = dividends(odd, STEPS[row % 3 + 1], row % 4 == 0)
    local d = quotients.special[row // 2] or odd * (row % 2 * 2 - 1) * 2.0 ^ (math.random(-25, 25) + (row % 8 == 0 and 50 or 0))
    if row == 1 then values, d = ties() end
    local x, z, rows = gpu.from_table(values, "f32"), gpu.zeros { WIDE }, gpu.zeros { 1, WIDE }
    k.by_one:with { N = WIDE }(z:tiles { WIDE }, x, d):sync()
    k.by_row:with { N = WIDE }(rows:tiles { 1, WIDE }, x:reshape { 1, WIDE }, gpu.from_table({ { d } }, "f32")):sync()
    compare(h, "a scalar", values, f32(d), z:to_table())
    compare(h, "a row's", values, f32(d), rows:to_table()[1])
  end
end

local function by_constants(h, k)
  local values = dividends(quotients.odd(), 5)
  local all = {}
  for _ = 1, #CONSTANTS do table.move(values, 1, WIDE, #all + 1, all) end
  local z = gpu.zeros { #all }
  k.by_constants:with { N = WIDE }(z:tiles { WIDE }, gpu.from_table(all, "f32")):sync()
  for i, d in ipairs(CONSTANTS) do compare(h, "a constant", values, f32(d), z:slice { (i - 1) * WIDE + 1, i * WIDE }:copy():to_table()) end
end

return function(h)
  h.group("divide", function()
    local k = gpu.kernels(KERNELS, "cases_divide")
    by_one(h, k)
    by_constants(h, k)
  end)
end
