-- The backward pass of layer norm. A block takes R rows: it writes their gradients, and adds up its share of the gradients
-- of weight and bias, which a second kernel adds for all blocks. Rows that are not there are zeros, and add nothing.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn backward<const R: i32, const N: i32>(
      dx: &mut Tensor<f32, {[R, N]}>, dw: &mut Tensor<f32, {[1, N]}>, db: &mut Tensor<f32, {[1, N]}>,
      dy: &Tensor<f32, {[-1, N]}>, x: &Tensor<f32, {[-1, N]}>, w: &Tensor<f32, {[N]}>, eps: f32,
  ) {
      let n: f32 = convert_scalar(N);
      let weight = w.load_tile(shape![N], [0]).reshape(shape![1, N]);
      let mut rows = dx.partition_mut(shape![1, N]);
      let mut sum_w = constant(0.0f32, shape![1, N]);
      let mut sum_b = constant(0.0f32, shape![1, N]);
      for r in 0..num_tiles(&rows, 0) {
          let row = program_id(0) * R + r;
          let t = x.load_tile(shape![1, N], [row, 0]);
          let g = dy.load_tile(shape![1, N], [row, 0]);
          let mean = reduce_sum(t, 1).reshape(shape![1, 1]) / n;
          let d = t - mean.broadcast(shape![1, N]);
          let var = reduce_sum(d * d, 1).reshape(shape![1, 1]) / n;
          let scale = rsqrt(var + eps).broadcast(shape![1, N]);
          let normal = d * scale;
          let weighted = g * weight;
          let along = reduce_sum(weighted * normal, 1).reshape(shape![1, 1]) / n;
          let all = reduce_sum(weighted, 1).reshape(shape![1, 1]) / n;
          let grad = (weighted - all.broadcast(shape![1, N]) - normal * along.broadcast(shape![1, N])) * scale;
          rows.store(grad, [r, 0]);
          sum_w += g * normal;
          sum_b += g;
      }
      dw.store(sum_w);
      db.store(sum_b);
  }

  #[tile]
  fn sum_blocks<const B: i32, const P: i32>(z: &mut Tensor<f32, {[B]}>, parts: &Tensor<f32, {[-1, -1]}>) {
      let tiles = parts.partition(shape![P, B]);
      let mut sum = constant(0.0f32, shape![P, B]);
      for i in 0..num_tiles(&tiles, 0) { sum += tiles.load([i, program_id(0)]); }
      z.store(reduce_sum(sum, 0));
  }
]]

local rows, n, per_block, eps = 22, 200, 4, 0x1p-17
local blocks = (rows + per_block - 1) // per_block
gpu.seed(10)
local x, w, dy = gpu.randn { rows, n }, gpu.randn { n }, gpu.randn { rows, n }
local dx, parts_w, parts_b = gpu.empty { rows, n }, gpu.empty { blocks, n }, gpu.empty { blocks, n }
k.backward(dx:tiles { per_block, n }, parts_w:tiles { 1, n }, parts_b:tiles { 1, n }, dy, x, w, eps):sync()
local dw, db = gpu.empty { n }, gpu.empty { n }
local sum = k.sum_blocks:with { P = 8 }
sum(dw:tiles { 64 }, parts_w):sync()
sum(db:tiles { 64 }, parts_b):sync()

-- The same in Lua, in doubles.
local xs, ws, gs, worst = x:to_table(), w:to_table(), dy:to_table(), 0
local got_x, got_w, got_b = dx:to_table(), dw:to_table(), db:to_table()
local want_w, want_b = {}, {}
local function compare(got, want) worst = math.max(worst, math.abs(got - want)) end
for j = 1, n do want_w[j], want_b[j] = 0, 0 end
for r = 1, rows do
  local mean, var, along, all = 0, 0, 0, 0
  for j = 1, n do mean = mean + xs[r][j] / n end
  for j = 1, n do var = var + (xs[r][j] - mean) ^ 2 / n end
  local scale, normal = 1 / math.sqrt(var + eps), {}
  for j = 1, n do
    normal[j] = (xs[r][j] - mean) * scale
    along, all = along + gs[r][j] * ws[j] * normal[j] / n, all + gs[r][j] * ws[j] / n
    want_w[j], want_b[j] = want_w[j] + gs[r][j] * normal[j], want_b[j] + gs[r][j]
  end
  for j = 1, n do compare(got_x[r][j], (gs[r][j] * ws[j] - all - normal[j] * along) * scale) end
end
for j = 1, n do
  compare(got_w[j], want_w[j])
  compare(got_b[j], want_b[j])
end
print(dx)
print(worst < 1e-4 and "as in Lua" or "differs by " .. worst)
