-- A product with weights of eight bits: they are converted in the kernel, and the scale of each column is multiplied to the
-- sums. The weights are the transpose's rows, as layers of networks keep them; as the first operand of the product they may
-- come from registers.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn product<const M: i32, const N: i32, const K: i32>(
      z: &mut Tensor<f32, {[M, N]}>, x: &Tensor<f16, {[-1, -1]}>, w: &Tensor<i8, {[-1, -1]}>, scale: &Tensor<f32, {[-1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (px, pw) = (x.partition(shape![M, K]), w.partition(shape![N, K]));
      let mut sums = constant(0.0f32, shape![N, M]);
      for l in 0..num_tiles(&px, 1) {
          let weights: Tile<f16, {[N, K]}> = convert_tile(pw.load([j, l]));
          sums = mma(weights, px.load([i, l]).transpose(), sums);
      }
      let s = scale.load_tile(shape![N], [j]).reshape(shape![N, 1]).broadcast(shape![N, M]);
      z.store((sums * s).transpose());
  }
]]

local rows, columns, depth = 40, 100, 70
gpu.seed(14)
math.randomseed(14)
local function numbers(m, n, per) -- multiples of 1 / per
  local t = {}
  for i = 1, m do
    t[i] = {}
    for j = 1, n do t[i][j] = math.random(-128, 127) / per end
  end
  return t
end
local x, weights = gpu.from_table(numbers(rows, depth, 64), "f16"), gpu.from_table(numbers(columns, depth, 1), "i8")
local scale = gpu.rand { columns }
local z = gpu.empty { rows, columns }
k.product:with { K = 32 }(z:tiles { 64, 64 }, x, weights, scale):sync()

-- The same in Lua, in doubles. Sums of so few bits are exact in whatever order.
local xs, ws, ss, zs, worst = x:to_table(), weights:to_table(), scale:to_table(), z:to_table(), 0
for i = 1, rows do
  for j = 1, columns do
    local sum = 0
    for l = 1, depth do sum = sum + xs[i][l] * ws[j][l] end
    worst = math.max(worst, math.abs(zs[i][j] - sum * ss[j]))
  end
end
print(z)
print(worst < 1e-4 and "as in Lua" or "differs by " .. worst)
