-- Softmax of each row: a block holds some whole rows as one tile and reduces along them.
-- The row's greatest element is subtracted first, so that no exponential overflows.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn softmax<const R: i32, const N: i32>(z: &mut Tensor<f32, {[R, N]}>, x: &Tensor<f32, {[-1, -1]}>) {
      let t = x.load_like(z);
      let greatest = reduce_max(t, 1).reshape(shape![R, 1]).broadcast(shape![R, N]);
      let e = exp(t - greatest);
      let sum = reduce_sum(e, 1).reshape(shape![R, 1]).broadcast(shape![R, N]);
      z.store(true_div(e, sum));
  }
]]

local rows, n = 8, 64
gpu.seed(1)
local x, z = gpu.randn { rows, n }, gpu.empty { rows, n }
k.softmax(z:tiles { 4, n }, x):sync()

-- The same in Lua, in doubles.
local xs, zs, worst = x:to_table(), z:to_table(), 0
for r = 1, rows do
  local sum = 0
  for i = 1, n do sum = sum + math.exp(xs[r][i]) end
  for i = 1, n do worst = math.max(worst, math.abs(zs[r][i] - math.exp(xs[r][i]) / sum)) end
end
print(z)
print(worst < 1e-6 and "as in Lua" or "differs by " .. worst)
