-- Cross entropy over a large vocabulary: a block goes along its row in tiles, with the greatest logit so far and a sum of
-- exponentials that is rescaled as it grows, then once more to replace each logit by its gradient. Reading what the kernel
-- writes is `unsafe`: nothing says that a tile was stored before.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  unsafe fn cross_entropy<const V: i32, const B: i32>(
      logits: &mut Tensor<f32, {[1, V]}>, loss: &mut Tensor<f32, {[1]}>, labels: &Tensor<i32, {[-1]}>, scale: f32) {
      let label = tile_to_scalar(labels.load_tile(shape![1], [program_id(0)]).reshape(shape![]));
      let mut row = logits.partition_mut(shape![1, B]);
      let mut most = constant(f32::NEG_INFINITY, shape![1, 1]);
      let mut sum = constant(0.0f32, shape![1, 1]);
      let mut own = constant(0.0f32, shape![1, 1]);
      for j in 0..num_tiles(&row, 1) {
          let place = iota(shape![B]).reshape(shape![1, B]) + j * B;
          let t = select(place < V, row.load([0, j]), constant(f32::NEG_INFINITY, shape![1, B]));
          let next = max_tile(most, reduce_max(t, 1).reshape(shape![1, 1]));
          sum = sum * exp(most - next) + reduce_sum(exp(t - next.broadcast(shape![1, B])), 1).reshape(shape![1, 1]);
          own += reduce_sum(select(place == label, t, constant(0.0f32, shape![1, B])), 1).reshape(shape![1, 1]);
          most = next;
      }
      let log_sum = most + log(sum);
      loss.store((log_sum - own).reshape(shape![1]));
      for j in 0..num_tiles(&row, 1) {
          let place = iota(shape![B]).reshape(shape![1, B]) + j * B;
          let p = exp(row.load([0, j]) - log_sum.broadcast(shape![1, B]));
          row.store(select(place == label, p - 1.0, p) * scale, [0, j]);
      }
  }
]]

local rows, words = 6, 1000
gpu.seed(11)
math.randomseed(11)
local logits, loss, labels = gpu.randn { rows, words }, gpu.empty { rows }, {}
for r = 1, rows do labels[r] = math.random(0, words - 1) end
local xs = logits:to_table()
k.cross_entropy:with { B = 256 }(logits:tiles { 1, words }, loss:tiles { 1 }, gpu.from_table(labels, "i32"), 1 / rows):sync()

-- The same in Lua, in doubles.
local gs, worst = logits:to_table(), 0
for r = 1, rows do
  local sum = 0
  for j = 1, words do sum = sum + math.exp(xs[r][j]) end
  worst = math.max(worst, math.abs(loss[r] - (math.log(sum) - xs[r][labels[r] + 1])))
  for j = 1, words do
    local grad = (math.exp(xs[r][j]) / sum - (j - 1 == labels[r] and 1 or 0)) / rows
    worst = math.max(worst, math.abs(gs[r][j] - grad))
  end
end
print(loss)
print(worst < 1e-5 and "as in Lua" or "differs by " .. worst)
