-- A tile that is copied ahead starts in the third turn of the loop, for schedules.lua: loops of no turns to four, and those that
-- are left in some turn.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn counted<const BM: i32, const BN: i32>(
      c: &mut Tensor<bf16, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, more: &Tensor<bf16, {[-1, -1]}>, turns: i32) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, 64]), b.partition(shape![64, BN]));
      let mut sums = constant(0.0f32, shape![BM, BN]);
      for l in 0..turns { sums = mma(pa.load([i, l]), pb.load([l, j]), sums); }
      let old: Tile<f32, {[BM, BN]}> = convert_tile(more.partition(shape![BM, BN]).load([i, j]));
      c.store(convert_tile(sums + old));
  }
  #[tile]
  fn left<const BM: i32, const BN: i32>(
      c: &mut Tensor<bf16, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, more: &Tensor<bf16, {[-1, -1]}>, turns: i32) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, 64]), b.partition(shape![64, BN]));
      let mut sums = constant(0.0f32, shape![BM, BN]);
      for l in 0..4 {
          if l >= turns { break; }
          sums = mma(pa.load([i, l]), pb.load([l, j]), sums);
      }
      let old: Tile<f32, {[BM, BN]}> = convert_tile(more.partition(shape![BM, BN]).load([i, j]));
      c.store(convert_tile(sums + old));
  }
]]

return function(o)
  local m, n, depth = 200, 136, 256
  local a, bt, more = o.small_numbers(m, depth, 1), o.small_numbers(n, depth, 4), o.small_numbers(m, n, 2)
  local ta, tb, tr = gpu.from_table(a, "bf16"), gpu.from_table(o.transpose(bt), "bf16"), gpu.from_table(more, "bf16")
  local function first(rows, count)
    local out = {}
    for i, row in ipairs(rows) do out[i] = table.move(row, 1, count, 1, {}) end
    return out
  end
  for turns = 0, 4 do
    local wanted = o.product(first(a, 64 * turns), first(bt, 64 * turns))
    for i, row in ipairs(wanted) do
      for j, x in ipairs(row) do row[j] = x + more[i][j] end
    end
    for _, name in ipairs { "counted", "left" } do
      o.each_schedule(("late %s %d"):format(name, turns), { {}, { persistent = false }, { cluster = 2, stages = 2 } }, function(title, schedule)
        local c, f = gpu.full({ m, n }, 0 / 0, "bf16"), k[name]:with(schedule)
        f(c:tiles { 128, 64 }, ta, tb, tr, turns):sync()
        o.check(title, c:to_table(), wanted, 2 ^ -8)
      end)
    end
  end
end
