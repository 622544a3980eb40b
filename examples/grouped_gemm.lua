-- A product for each expert: tokens are sorted by expert and each expert's rows padded to whole tiles, so that a tile of rows
-- has one expert, which a table names.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn product<const M: i32, const N: i32, const K: i32>(
      z: &mut Tensor<f32, {[M, N]}>, x: &Tensor<f16, {[-1, -1]}>, w: &Tensor<f16, {[-1, -1, -1]}>, experts: &Tensor<i32, {[-1]}>) {
      let (i, j, _) = get_tile_block_id();
      let expert = tile_to_scalar(experts.load_tile(shape![1], [i]).reshape(shape![]));
      let (px, pw) = (x.partition(shape![M, K]), w.partition(shape![1, K, N]));
      let mut sums = constant(0.0f32, shape![M, N]);
      for l in 0..num_tiles(&px, 1) {
          sums = mma(px.load([i, l]), pw.load([expert, l, j]).reshape(shape![K, N]), sums);
      }
      z.store(sums);
  }
]]

local experts, columns, depth, tile = 3, 80, 48, 64
local counts = { 70, 0, 64 } -- tokens of each expert
local of_tile = {}
for e, count in ipairs(counts) do
  for _ = 1, (count + tile - 1) // tile do of_tile[#of_tile + 1] = e - 1 end
end
local rows = #of_tile * tile
gpu.seed(15)
local x, w, z = gpu.randn({ rows, depth }, "f16"), gpu.randn({ experts, depth, columns }, "f16"), gpu.empty { rows, columns }
k.product:with { K = 16 }(z:tiles { tile, 32 }, x, w, gpu.from_table(of_tile, "i32")):sync()

-- The same in Lua, in doubles: products of halves are exact.
local xs, ws, zs, worst = x:to_table(), w:to_table(), z:to_table(), 0
for i = 1, rows do
  local matrix = ws[of_tile[(i - 1) // tile + 1] + 1]
  for j = 1, columns do
    local sum = 0
    for l = 1, depth do sum = sum + xs[i][l] * matrix[l][j] end
    worst = math.max(worst, math.abs(zs[i][j] - sum))
  end
end
print(z)
print(worst < 1e-4 and "as in Lua" or "differs by " .. worst)
