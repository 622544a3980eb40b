-- A batch of matrix products: a block makes one tile of one product, going along k.
-- The batch is the grid's third axis; tiles of rank 3 become matrices for mma.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn batch_matmul<const M: i32, const N: i32, const K: i32>(c: &mut Tensor<f32, {[1, M, N]}>, a: &Tensor<f16, {[-1, -1, -1]}>, b: &Tensor<f16, {[-1, -1, -1]}>) {
      let (batch, i, j) = get_tile_block_id();
      let pa = a.partition(shape![1, M, K]);
      let pb = b.partition(shape![1, K, N]);
      let mut acc = constant(0.0f32, shape![M, N]);
      for l in 0..num_tiles(&pa, 2) {
          let ta = pa.load([batch, i, l]).reshape(shape![M, K]);
          let tb = pb.load([batch, l, j]).reshape(shape![K, N]);
          acc = mma(ta, tb, acc);
      }
      c.store(acc.reshape(shape![1, M, N]));
  }
]]

local batch, m, n, depth = 3, 32, 48, 40
gpu.seed(3)
local a, b = gpu.randn({ batch, m, depth }, "f16"), gpu.randn({ batch, depth, n }, "f16")
local c = gpu.empty { batch, m, n }
k.batch_matmul:with { K = 16 }(c:tiles { 1, 16, 16 }, a, b):sync()

-- The same in Lua, in doubles: products of halves are exact.
local as, bs, cs, worst = a:to_table(), b:to_table(), c:to_table(), 0
for p = 1, batch do
  for i = 1, m do
    for j = 1, n do
      local sum = 0
      for l = 1, depth do sum = sum + as[p][i][l] * bs[p][l][j] end
      worst = math.max(worst, math.abs(cs[p][i][j] - sum))
    end
  end
end
print(c)
print(worst < 1e-4 and "as in Lua" or "differs by " .. worst)
