-- Greatest scores of which the factor's sign is asked, for schedules.lua: factors of either sign and none, masks that end
-- in late turns, and a start that is below what masked scores are.
local gpu = require "gpulua"

local SOURCE = [[
  #[tile]
  fn NAME<const BM: i32, const BN: i32, const D: i32>(
      o: &mut Tensor<f32, {[BM, D]}>, greatest: &mut Tensor<f32, {[BM, 1]}>, q: &Tensor<bf16, {[-1, D]}>, k: &Tensor<bf16, {[-1, D]}>,
      v: &Tensor<bf16, {[-1, D]}>, scale: f32, length: i32) {
      let i = program_id(0);
      let (pk, pv) = (k.partition(shape![BN, D]), v.partition(shape![BN, D]));
      let tq = q.partition(shape![BM, D]).load([i, 0]);
      let mut most = constant(START, shape![BM, 1]);
      let mut sum = constant(0.0f32, shape![BM, 1]);
      let mut acc = constant(0.0f32, shape![BM, D]);
      let row = (iota::<i32>(shape![BM]) + i * BM).reshape(shape![BM, 1]).broadcast(shape![BM, BN]);
      for j in 0..num_tiles(&pk, 0) {
          let column = (iota::<i32>(shape![BN]) + j * BN).reshape(shape![1, BN]).broadcast(shape![BM, BN]);
          let s = mma(tq, pk.load([j, 0]).transpose(), constant(0.0f32, shape![BM, BN])) * FACTOR;
          let s = MASK;
          let next = max_tile(most, reduce_max(s, 1).reshape(shape![BM, 1]));
          let weights = exp2(s - next.broadcast(shape![BM, BN]));
          let shrink = exp2(most - next);
          sum = sum * shrink + reduce_sum(weights, 1).reshape(shape![BM, 1]);
          acc = mma(convert_tile(weights), pv.load([j, 0]), acc * shrink.broadcast(shape![BM, D]));
          most = next;
      }
      o.store(acc / sum.broadcast(shape![BM, D]));
      greatest.store(most);
  }
]]
local CAUSAL, LENGTH = "select(ge_tile(row, column), s, constant(%s, shape![BM, BN]))", "select(lt_tile(column, length.broadcast(shape![BM, BN])), s, constant(-1.0e30f32, shape![BM, BN]))"
local FORMS = {
  { "plain", "s", "f32::NEG_INFINITY", "scale", false, false },
  { "causal", CAUSAL:format "-1.0e30f32", "-1.0e30f32", "scale", true, false },
  { "below", CAUSAL:format "-1.0e30f32", "f32::NEG_INFINITY", "scale", true, false },
  { "infinite", CAUSAL:format "f32::NEG_INFINITY", "f32::NEG_INFINITY", "scale", true, false },
  { "length", LENGTH, "-1.0e30f32", "scale", false, true },
  { "both", "select(ge_tile(row, column) & lt_tile(column, length.broadcast(shape![BM, BN])), s, constant(-1.0e30f32, shape![BM, BN]))", "-1.0e30f32", "scale", true, true },
  { "fixed", CAUSAL:format "-1.0e30f32", "-1.0e30f32", "0.015625f32", true, false },
  { "negative", CAUSAL:format "-1.0e30f32", "-1.0e30f32", "(-0.015625f32)", true, false },
}

local function multiply(q, key)
  local s = {}
  for i, row in ipairs(q) do
    s[i] = {}
    for j, column in ipairs(key) do
      local x = 0
      for d = 1, #row do x = x + row[d] * column[d] end
      s[i][j] = x
    end
  end
  return s
end

local function attend(products, v, scale, is_causal, length)
  local out, greatest = {}, {}
  for i, row in ipairs(products) do
    local weights, most, sum = {}, -math.huge, 0
    for j = 1, math.min(is_causal and i or #row, length) do
      weights[j] = row[j] * scale
      most = math.max(most, weights[j])
    end
    for j, x in ipairs(weights) do
      weights[j] = 2 ^ (x - most)
      sum = sum + weights[j]
    end
    out[i], greatest[i] = {}, { most }
    for d = 1, #v[1] do
      local x = 0
      for j, weight in ipairs(weights) do x = x + weight * v[j][d] end
      out[i][d] = x / sum
    end
  end
  return out, greatest
end

return function(o)
  local rows, keys, depth, text = 256, 320, 64, {}
  for i, form in ipairs(FORMS) do
    text[i] = SOURCE:gsub("%u%u%u%u+", { NAME = form[1], MASK = form[2], START = form[3], FACTOR = form[4] })
  end
  local k = gpu.kernels(table.concat(text), "schedules_sign.lua")
  local q, key, v = o.small_numbers(rows, depth, 0), o.small_numbers(keys, depth, 2), o.small_numbers(keys, depth, 5)
  for j, row in ipairs(key) do -- the greatest and the least come in late turns
    for d, x in ipairs(row) do row[d] = x * (1 + (j - 1) // 64) end
  end
  local tq, tk, tv = gpu.from_table(q, "bf16"), gpu.from_table(key, "bf16"), gpu.from_table(v, "bf16")
  local products = multiply(q, key)
  local function run(form, scale, bm, bn)
    local name, _, _, _, is_causal, has_length = table.unpack(form)
    local wanted, most = attend(products, v, scale, is_causal, has_length and 250 or keys)
    o.each_schedule(("%s scores times %g"):format(name, scale), { {} }, function(title, schedule)
      local options = { BN = bn }
      for field, value in pairs(schedule) do options[field] = value end
      local out, greatest = gpu.zeros { rows, depth }, gpu.zeros { rows, 1 }
      k[name]:with(options)(out:tiles { bm, depth }, greatest:tiles { bm, 1 }, tq, tk, tv, scale, 250):sync()
      o.check(title, out:to_table(), wanted, 2 ^ -7)
      o.check(title, greatest:to_table(), most, 2 ^ -20)
    end)
  end
  for _, form in ipairs(FORMS) do
    for _, scale in ipairs(form[4] == "scale" and { 1 / 64, -1 / 64, 0 } or { form[1] == "negative" and -1 / 64 or 1 / 64 }) do
      run(form, scale, 128, 64)
    end
  end
  run(FORMS[2], 1 / 64, 64, 128)
end
