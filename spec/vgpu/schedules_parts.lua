-- The depth of a product in parts, of blocks of their own, for schedules.lua: each adds its sums to what is there (`added`), or
-- stores them, and the last one of a tile adds them up (`joined`).
local gpu = require "gpulua"

local k = gpu.kernels [[
  use cutile::tileir::*;
  #[tile]
  unsafe fn added<const BM: i32, const BN: i32, const BK: i32, const P: i32>(
      c: &Tensor<f32, {[-1, -1]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (part, i, j) = get_tile_block_id();
      let (pa, pb, mut pc) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]), c.partition_full_mut(shape![BM, BN]));
      let turns = num_tiles(&pa, 1) / P;
      let mut sums = constant(0.0f32, shape![BM, BN]);
      for l in part * turns..(part + 1) * turns { sums = mma(pa.load([i, l]), pb.load([l, j]), sums); }
      let _token = atomic_red_view_tko(&mut pc, sums, [i, j], atomic::AddF, ordering::Relaxed, scope::Device);
  }
  #[tile]
  unsafe fn joined<const BM: i32, const BN: i32, const BK: i32, const P: i32>(
      c: &Tensor<f32, {[-1, -1]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, parts: &Tensor<f32, {[-1, -1, -1]}>, count: *mut u32) {
      let (part, i, j) = get_tile_block_id();
      let (pa, pb, mut pp) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]), parts.partition_full_mut(shape![1, BM, BN]));
      let turns = num_tiles(&pa, 1) / P;
      let mut sums = constant(0.0f32, shape![BM, BN]);
      for l in part * turns..(part + 1) * turns { sums = mma(pa.load([i, l]), pb.load([l, j]), sums); }
      pp.store(sums.reshape(shape![1, BM, BN]), [part, i, j]);
      let place = pointer_to_tile(count).offset(i * num_programs(2) + j);
      let (before, _) = atomic_rmw_tko(place, scalar_to_tile(1u32), atomic::Add, ordering::AcqRel, scope::Device, None, None);
      if tile_to_scalar(before) as i32 == P - 1 {
          let mut sum = constant(0.0f32, shape![BM, BN]);
          for l in 0..P { sum = sum + pp.load([l, i, j]).reshape(shape![BM, BN]); }
          let mut pc = c.partition_full_mut(shape![BM, BN]);
          pc.store(sum, [i, j]);
      }
  }
]]

return function(o)
  local m, n, depth, count = 136, 72, 192, 3
  local a, bt = o.small_numbers(m, depth, 1), o.small_numbers(n, depth, 4)
  local ta, tb, wanted = gpu.from_table(a, "bf16"), gpu.from_table(o.transpose(bt), "bf16"), o.product(a, bt)
  for _, tile in ipairs { { 128, 64 }, { 64, 128 } } do
    -- Rows that begin at odd elements are added to one by one.
    for name, columns in pairs { added = n, ["added, odd rows"] = n + 1, joined = n } do
      o.each_schedule(("%s %dx%d"):format(name, tile[1], tile[2]), { {}, { persistent = false }, { cluster = 2 }, { stages = 1 } }, function(title, schedule)
        local grid = { count, (m + tile[1] - 1) // tile[1], (n + tile[2] - 1) // tile[2] }
        local options = { BM = tile[1], BN = tile[2], BK = 64, P = count, grid = grid }
        for field, value in pairs(schedule) do options[field] = value end
        local c = gpu.zeros { m, columns }
        local part = c:slice({ 1, m }, { 1, n })
        if name == "joined" then
          k.joined:with(options)(part, ta, tb, gpu.zeros { count, m, n }, gpu.zeros({ grid[2] * grid[3] }, "u32")):sync()
        else
          k.added:with(options)(part, ta, tb):sync()
        end
        o.check(title, part:copy():to_table(), wanted, 0)
      end)
    end
  end
end
