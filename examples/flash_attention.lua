-- Attention without the matrix of scores: a block of queries goes along the keys and keeps, for each query, the
-- greatest score so far, the sum of exponentials and the weighted sum of values, which it rescales as the
-- greatest grows. CAUSAL masks the keys behind a query, and leaves out the blocks that hold no other.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn attention<const M: i32, const N: i32, const D: i32, const CAUSAL: bool>(
      o: &mut Tensor<f32, {[1, M, D]}>,
      q: &Tensor<f16, {[-1, -1, D]}>, k: &Tensor<f16, {[-1, -1, D]}>, v: &Tensor<f16, {[-1, -1, D]}>,
      scale: f32,
  ) {
      let (head, block, _) = get_tile_block_id();
      let (pk, pv) = (k.partition(shape![1, N, D]), v.partition(shape![1, N, D]));
      let keys = k.shape()[1];
      let queries = q.partition(shape![1, M, D]).load([head, block, 0]).reshape(shape![M, D]);
      let query = (iota(shape![M]) + block * M).reshape(shape![M, 1]).broadcast(shape![M, N]);

      let mut greatest = constant(-1.0e30f32, shape![M, 1]);
      let mut sum = constant(0.0f32, shape![M, 1]);
      let mut acc = constant(0.0f32, shape![M, D]);
      let all = num_tiles(&pk, 1);
      let count = if CAUSAL { min(all, ceil_div((block + 1) * M, N)) } else { all };
      for j in 0..count {
          let key = (iota(shape![N]) + j * N).reshape(shape![1, N]).broadcast(shape![M, N]);
          let mut is_seen = lt_tile(key, keys.broadcast(shape![M, N]));
          if CAUSAL {
              is_seen = is_seen & le_tile(key, query);
          }
          let tk = pk.load([head, j, 0]).reshape(shape![N, D]);
          let scores = mma(queries, tk.transpose(), constant(0.0f32, shape![M, N])) * scale;
          let scores = select(is_seen, scores, constant(-1.0e30f32, shape![M, N]));

          let next = max_tile(greatest, reduce_max(scores, 1).reshape(shape![M, 1]));
          let weights = exp(scores - next.broadcast(shape![M, N]));
          let shrink = exp(greatest - next);
          sum = sum * shrink + reduce_sum(weights, 1).reshape(shape![M, 1]);
          let tv = pv.load([head, j, 0]).reshape(shape![N, D]);
          let halves: Tile<f16, {[M, N]}> = convert_tile(weights);
          acc = mma(halves, tv, acc * shrink.broadcast(shape![M, D]));
          greatest = next;
      }
      o.store((acc / sum.broadcast(shape![M, D])).reshape(shape![1, M, D]));
  }
]]

local heads, length, dim = 2, 50, 32
local scale = 1 / math.sqrt(dim)
gpu.seed(8)
local shape = { heads, length, dim }
local q, key, v = gpu.randn(shape, "f16"), gpu.randn(shape, "f16"), gpu.randn(shape, "f16")
local qs, ks, vs = q:to_table(), key:to_table(), v:to_table()

-- One query's output in Lua, in doubles, over its `seen` first keys.
local function attend(h, i, seen)
  local weights, greatest, sum, out = {}, -math.huge, 0, {}
  for j = 1, seen do
    weights[j] = 0
    for d = 1, dim do weights[j] = weights[j] + qs[h][i][d] * ks[h][j][d] * scale end
    greatest = math.max(greatest, weights[j])
  end
  for d = 1, dim do out[d] = 0 end
  for j = 1, seen do
    local w = math.exp(weights[j] - greatest)
    sum = sum + w
    for d = 1, dim do out[d] = out[d] + w * vs[h][j][d] end
  end
  for d = 1, dim do out[d] = out[d] / sum end
  return out
end

local worst = 0
for _, causal in ipairs { false, true } do
  local o = gpu.empty(shape)
  k.attention:with { N = 16, CAUSAL = causal }(o:tiles { 1, 16, dim }, q, key, v, scale):sync()
  print(o)
  local os = o:to_table()
  for h = 1, heads do
    for i = 1, length do
      local want = attend(h, i, causal and i or length)
      for d = 1, dim do worst = math.max(worst, math.abs(os[h][i][d] - want[d])) end
    end
  end
end
-- The weights are rounded to halves before they meet the values.
print(worst < 2e-3 and "as in Lua" or "differs by " .. worst)
