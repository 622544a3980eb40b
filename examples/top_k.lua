-- The K greatest of each row, in order, as a router of experts wants them: the greatest is found K times, and each time
-- taken out of the row. The tile stays in registers.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn top<const K: i32, const N: i32>(values: &mut Tensor<f32, {[1, K]}>, places: &mut Tensor<i32, {[1, K]}>, x: &Tensor<f32, {[-1, N]}>) {
      let place = iota(shape![N]).reshape(shape![1, N]);
      let mut row = x.load_tile(shape![1, N], [program_id(0), 0]);
      let (mut to_values, mut to_places) = (values.partition_mut(shape![1, 1]), places.partition_mut(shape![1, 1]));
      for i in 0..K {
          let most = reduce_max(row, 1).reshape(shape![1, 1]);
          let is_most = row == most.broadcast(shape![1, N]);
          let first = reduce_min(select(is_most, place, constant(N, shape![1, N])), 1).reshape(shape![1, 1]);
          to_values.store(most, [0, i]);
          to_places.store(first, [0, i]);
          row = select(place == first.broadcast(shape![1, N]), constant(f32::NEG_INFINITY, shape![1, N]), row);
      }
  }
]]

local rows, n, count = 20, 96, 8
gpu.seed(13)
local x, values, places = gpu.randn { rows, n }, gpu.empty { rows, count }, gpu.empty({ rows, count }, "i32")
k.top(values:tiles { 1, count }, places:tiles { 1, count }, x):sync()

local xs, vs, ps, wrong = x:to_table(), values:to_table(), places:to_table(), 0
for r = 1, rows do
  local order = {}
  for j = 1, n do order[j] = j end
  table.sort(order, function(a, b) return xs[r][a] > xs[r][b] end)
  for i = 1, count do
    if ps[r][i] ~= order[i] - 1 or vs[r][i] ~= xs[r][order[i]] then wrong = wrong + 1 end
  end
end
print(places)
print(wrong == 0 and "as in Lua" or wrong .. " places differ")
