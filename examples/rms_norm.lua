-- RMS norm: each row divided by the root of its mean square, times a weight for each column.
-- A block goes through its row in tiles of B, first for the sum, then for the quotients.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn rms_norm<const N: i32, const B: i32>(z: &mut Tensor<f32, {[1, N]}>, x: &Tensor<f32, {[-1, N]}>, w: &Tensor<f32, {[N]}>, eps: f32) {
      let row = program_id(0);
      let px = x.partition(shape![1, B]);
      let pw = w.partition(shape![B]);
      let mut squares = constant(0.0f32, shape![1, B]);
      for j in 0..num_tiles(&px, 1) {
          let t = px.load([row, j]);
          squares = fma(t, t, squares);
      }
      let n: f32 = convert_scalar(N);
      let mean = tile_to_scalar(reduce_sum(squares, 1).reshape(shape![])) / n;
      let scale = rsqrt(scalar_to_tile(mean + eps)).reshape(shape![1, 1]).broadcast(shape![1, B]);
      let mut pz = z.partition_mut(shape![1, B]);
      for j in 0..num_tiles(&px, 1) {
          let t = px.load([row, j]) * scale * pw.load([j]).reshape(shape![1, B]);
          pz.store(t, [0, j]);
      }
  }
]]

local rows, n, eps = 16, 256, 0x1p-17 -- eps is exact in f32
gpu.seed(2)
local x, w, z = gpu.randn { rows, n }, gpu.randn { n }, gpu.empty { rows, n }
k.rms_norm:with { B = 64 }(z:tiles { 1, n }, x, w, eps):sync()

-- The same in Lua, in doubles.
local xs, ws, zs, worst = x:to_table(), w:to_table(), z:to_table(), 0
for r = 1, rows do
  local sum = 0
  for i = 1, n do sum = sum + xs[r][i] ^ 2 end
  local scale = 1 / math.sqrt(sum / n + eps)
  for i = 1, n do worst = math.max(worst, math.abs(zs[r][i] - xs[r][i] * scale * ws[i])) end
end
print(z)
print(worst < 1e-5 and "as in Lua" or "differs by " .. worst)
