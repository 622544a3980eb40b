-- A product for each expert: tokens are sorted by expert. Either each expert's rows are padded to whole tiles, so that a tile of
-- rows has one expert, which a table names; or they begin and end anywhere, and a block takes its tile of its expert's slice.
local gpu = require "gpulua"

local k = gpu.kernels [[
  fn at(t: &Tensor<i32, {[-1]}>, i: i32) -> i32 { tile_to_scalar(t.load_tile(shape![1], [i]).reshape(shape![])) }

  #[tile]
  fn padded<const M: i32, const N: i32, const K: i32>(
      z: &mut Tensor<f32, {[M, N]}>, x: &Tensor<f16, {[-1, -1]}>, w: &Tensor<f16, {[-1, -1, -1]}>, experts: &Tensor<i32, {[-1]}>) {
      let (i, j, _) = get_tile_block_id();
      let expert = at(experts, i);
      let (px, pw) = (x.partition(shape![M, K]), w.partition(shape![1, K, N]));
      let mut sums = constant(0.0f32, shape![M, N]);
      for l in 0..num_tiles(&px, 1) {
          sums = mma(px.load([i, l]), pw.load([expert, l, j]).reshape(shape![K, N]), sums);
      }
      z.store(sums);
  }

  // unsafe: blocks of one expert take different tiles of its slice, and slices do not overlap.
  #[tile]
  unsafe fn sliced<const M: i32, const N: i32, const K: i32>(
      z: &Tensor<f32, {[-1, -1]}>, x: &Tensor<f16, {[-1, -1]}>, w: &Tensor<f16, {[-1, -1, -1]}>, ends: &Tensor<i32, {[-1]}>) {
      let (i, j, expert) = get_tile_block_id();
      let (start, end) = (at(ends, expert), at(ends, expert + 1));
      let (px, pw) = (x.slice(0, start, end).partition(shape![M, K]), w.partition(shape![1, K, N]));
      if i < num_tiles(&px, 0) {
          let mut sums = constant(0.0f32, shape![M, N]);
          for l in 0..num_tiles(&px, 1) {
              sums = mma(px.load([i, l]), pw.load([expert, l, j]).reshape(shape![K, N]), sums);
          }
          let mut pz = z.slice(0, start, end).partition_full_mut(shape![M, N]);
          pz.store(sums, [i, j]);
      }
  }
]]

local experts, columns, depth, tile = 3, 80, 48, 64
local counts = { 70, 0, 64 } -- tokens of each expert
local of_tile, ends, rows, most = {}, { 0 }, 0, 0
for e, count in ipairs(counts) do
  local tiles = (count + tile - 1) // tile
  for _ = 1, tiles do of_tile[#of_tile + 1] = e - 1 end
  rows, most = rows + count, math.max(most, tiles)
  ends[e + 1] = rows
end
-- Quarters, whose sums are exact in whatever order.
math.randomseed(15)
local function quarters(...)
  local shape, values, count = { ... }, {}, 1
  for _, n in ipairs(shape) do count = count * n end
  for i = 1, count do values[i] = math.random(-8, 8) / 4 end
  return gpu.from_table(values, "f16"):reshape(shape)
end
local w = quarters(experts, depth, columns)
local x, z = quarters(#of_tile * tile, depth), gpu.empty { #of_tile * tile, columns }
k.padded:with { K = 16 }(z:tiles { tile, 32 }, x, w, gpu.from_table(of_tile, "i32")):sync()
local y, u = quarters(rows, depth), gpu.empty { rows, columns }
local grid = { most, (columns + 31) // 32, experts }
k.sliced:with { M = tile, N = 32, K = 16, grid = grid }(u, y, w, gpu.from_table(ends, "i32")):sync()

-- The same in Lua, in doubles.
local ws, worst = w:to_table(), 0
local function compare(to, from, expert_of)
  local xs, zs = from:to_table(), to:to_table()
  for i = 1, #zs do
    local matrix = ws[expert_of(i - 1) + 1]
    for j = 1, columns do
      local sum = 0
      for l = 1, depth do sum = sum + xs[i][l] * matrix[l][j] end
      worst = math.max(worst, math.abs(zs[i][j] - sum))
    end
  end
end
compare(z, x, function(row) return of_tile[row // tile + 1] end)
compare(u, y, function(row)
  local e = 0
  while row >= ends[e + 2] do e = e + 1 end
  return e
end)
print(z)
print(u)
print(worst == 0 and "as in Lua" or "differs by " .. worst)
