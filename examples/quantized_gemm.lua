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
local x, scale, weights = gpu.randn({ rows, depth }, "f16"), gpu.rand { columns }, {}
for j = 1, columns do
  weights[j] = {}
  for l = 1, depth do weights[j][l] = math.random(-128, 127) end
end
local z = gpu.empty { rows, columns }
k.product:with { K = 32 }(z:tiles { 64, 64 }, x, gpu.from_table(weights, "i8"), scale):sync()

-- The same in Lua, in doubles: products of halves and bytes are exact.
local xs, ss, zs, worst = x:to_table(), scale:to_table(), z:to_table(), 0
for i = 1, rows do
  for j = 1, columns do
    local sum = 0
    for l = 1, depth do sum = sum + xs[i][l] * weights[j][l] end
    worst = math.max(worst, math.abs(zs[i][j] - sum * ss[j]))
  end
end
print(z)
print(worst < 1e-2 and "as in Lua" or "differs by " .. worst)
