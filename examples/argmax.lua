-- The place of the greatest element of each row, the first of equal ones.
-- Reductions of values find it, then a reduction of the places where the value is.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn argmax<const N: i32>(z: &mut Tensor<i32, {[1]}>, x: &Tensor<f32, {[-1, N]}>) {
      let row = program_id(0);
      let t = x.load_tile(shape![1, N], [row, 0]).reshape(shape![N]);
      let greatest: Tile<f32, {[1]}> = reduce_max(t, 0);
      let is_it = eq_tile(t, greatest.broadcast(shape![N]));
      let places = select(is_it, iota(shape![N]), constant(N, shape![N]));
      let first = reduce(places, 0, N, |a, b| min(a, b));
      z.store(first.reshape(shape![1]));
  }
]]

local rows, n = 20, 128
gpu.seed(4)
local x, z = gpu.randn { rows, n }, gpu.empty({ rows }, "i32")
k.argmax(z:tiles { 1 }, x):sync()

local xs, zs, wrong = x:to_table(), z:to_table(), 0
for r = 1, rows do
  local at = 1
  for i = 2, n do if xs[r][i] > xs[r][at] then at = i end end
  if zs[r] ~= at - 1 then wrong = wrong + 1 end
end
print(z)
print(wrong == 0 and "as in Lua" or wrong .. " rows differ")
