-- An embedding: each token's row of a table. A block reads its token and copies that row.
-- The token is an index like any other: one that the table does not have is reported, with its line.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn embedding<const D: i32>(z: &mut Tensor<f16, {[1, D]}>, tokens: &Tensor<i32, {[-1]}>, weights: &Tensor<f16, {[-1, D]}>) {
      let token = tile_to_scalar(tokens.load_tile(shape![1], [program_id(0)]).reshape(shape![]));
      z.store(weights.partition(shape![1, D]).load([token, 0]));
  }
]]

local words, dim, n = 50, 64, 200
gpu.seed(7)
local weights, ids = gpu.randn({ words, dim }, "f16"), {}
math.randomseed(7)
for i = 1, n do ids[i] = math.random(0, words - 1) end
local z = gpu.empty({ n, dim }, "f16")
k.embedding(z:tiles { 1, dim }, gpu.from_table(ids, "i32"), weights):sync()

local ws, zs, wrong = weights:to_table(), z:to_table(), 0
for i = 1, n do
  for j = 1, dim do
    if zs[i][j] ~= ws[ids[i] + 1][j] then wrong = wrong + 1 end
  end
end
print(z)

ids[3] = words
local is_ok, err = pcall(function()
  k.embedding(z:tiles { 1, dim }, gpu.from_table(ids, "i32"), weights):sync()
end)
print(is_ok and "the bad token was not noticed" or tostring(err):match "[^\n]*")
print(wrong == 0 and not is_ok and "as in Lua" or wrong .. " elements differ")
