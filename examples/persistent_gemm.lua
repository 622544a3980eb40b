-- A product of matrices by a fixed number of blocks: each goes from tile to tile of the result. The map {4, 1} orders
-- the tiles in bands of four rows, so that blocks which run together read the same columns of y.
-- No check is left in the kernel: what the loops do not prove, such as the depth of x being that of y, is asked once
-- by each launch.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[cutile::entry(deny_in_kernel_checks = true)]
  fn persistent_gemm<const M: i32, const N: i32, const K: i32, const MAP: [i32; 2]>(
      mut z: MappedPartitionMut<f32, {[M, N]}, MAP>, x: &Tensor<f16, {[-1, -1]}>, y: &Tensor<f16, {[-1, -1]}>,
  ) {
      let (px, py) = (x.partition(shape![M, K]), y.partition(shape![K, N]));
      for tile in z.iter_indices() {
          let (row, column) = tile.components();
          let mut acc = constant(0.0f32, shape![M, N]);
          for l in 0..num_tiles(&px, 1) {
              acc = mma(px.load([row, l]), py.load([l, column]), acc);
          }
          z.store(acc, tile);
      }
  }
]]

local rows, columns, depth, blocks = 100, 80, 50, 6
gpu.seed(9)
local x, y = gpu.randn({ rows, depth }, "f16"), gpu.randn({ depth, columns }, "f16")
local z = gpu.empty { rows, columns }
k.persistent_gemm:with { K = 16 }(z:tiles { 16, 16 }:map({ 4, 1 }, blocks), x, y):sync()

-- The same in Lua, in doubles: products of halves are exact.
local xs, ys, zs, worst = x:to_table(), y:to_table(), z:to_table(), 0
for i = 1, rows do
  for j = 1, columns do
    local sum = 0
    for l = 1, depth do sum = sum + xs[i][l] * ys[l][j] end
    worst = math.max(worst, math.abs(zs[i][j] - sum))
  end
end
print(z)

local is_ok, err = pcall(function()
  k.persistent_gemm:with { K = 16 }(z:tiles { 16, 16 }:map({ 4, 1 }, blocks), x, y:slice({ 1, 20 }, { 1, columns }))
end)
print(is_ok and "the short y was not noticed" or tostring(err):match "[^\n]*")
print(worst < 1e-4 and not is_ok and "as in Lua" or "differs by " .. worst)
