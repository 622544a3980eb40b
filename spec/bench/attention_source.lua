-- The text of attention kernels: online softmax over tiles of keys, two products a tile. The causal form
-- has masks only where a tile crosses the diagonal; the capped ones bend their scores. Each row has
-- eight sums of weights, of every eighth column, which are added at the end: a thread has its own. Tiles
-- are of BM rows and 8 N columns.
local LOG2_E = 1.4426950408889634

-- `o` comes with queries before heads, so that the blocks of a head follow each other and find its keys
-- in the cache.
local SOURCE = [[
  %s fn %s<const BM: i32, const N: i32, const D: i32>(
      o: &mut Tensor<bf16, {[BM, 1, D]}>, q: &Tensor<bf16, {[-1, -1, D]}>, k: &Tensor<bf16, {[-1, -1, D]}>,
      v: &Tensor<bf16, {[-1, -1, D]}>, scale: f32) {
      let (i, head, _) = get_tile_block_id();
      let pq = q.partition(shape![1, BM, D]);
      let pk = k.partition(shape![1, 8 * N, D]);
      let pv = v.partition(shape![1, 8 * N, D]);
      let tq = pq.load([head, i, 0]).reshape(shape![BM, D]);
      %s
      let mut sums = constant(0.0f32, shape![BM, 8]);
      let mut acc = constant(0.0f32, shape![BM, D]);
      let unit = %s;
      for j in 0..%s {
          let tk = pk.load([head, j, 0]).reshape(shape![8 * N, D]);
          let products = mma(tq, tk.transpose(), constant(0.0f32, shape![BM, 8 * N]));
          let scores = %s;
%s      }
      let share = constant(1.0f32, shape![BM, 1]) / reduce_sum(sums, 1).reshape(shape![BM, 1]);
      let out: Tile<bf16, {[BM, D]}> = convert_tile(acc * share.broadcast(shape![BM, D]));
      o.store(out.reshape(shape![BM, 1, D]));
  }
]]
-- A running maximum keeps the powers in range.
local MOST = "let mut most = constant(f32::NEG_INFINITY, shape![BM, 1]);"
local ONLINE = [[
          let tile_most = reduce_max(scores, 1).reshape(shape![BM, 1]) * unit;
          let next = max_tile(most, tile_most);
          let weights = exp2(scores * unit - next.broadcast(shape![BM, 8 * N]), ftz::Enabled);
          let shrink = exp2(most - next, ftz::Enabled);
          let parts = reduce_sum(weights.reshape(shape![BM, N, 8]), 1);
          sums = sums * shrink.broadcast(shape![BM, 8]) + parts;
          let tv = pv.load([head, j, 0]).reshape(shape![8 * N, D]);
          acc = mma(convert_tile(weights), tv, acc * shrink.broadcast(shape![BM, D]));
          most = next;
]]
-- Scores that are capped are from -unit to unit and weights from 2^(-2 unit) to 1, which f32 holds up to a
-- unit of 63, a cap of 43: then no maximum is needed.
local BOUNDED = [[
          let weights = exp2(scores * unit - unit, ftz::Enabled);
          sums = sums + reduce_sum(weights.reshape(shape![BM, N, 8]), 1);
          let tv = pv.load([head, j, 0]).reshape(shape![8 * N, D]);
          acc = mma(convert_tile(weights), tv, acc);
]]
-- CAP tanh(score / CAP); so low a cap that scores of normal inputs feel it.
local CAP = 3
local CAPPED_UNIT = ("%.9g"):format(CAP * LOG2_E)
local CAPPED = ("tanh(products * (scale / %s), rounding::Approx)"):format(CAPPED_UNIT)
-- Rows i BM.. see keys up to their own; the tiles before i BM / 8 N need no mask.
local MASKED = [[if j < i * BM / (8 * N) { products } else {
              let row = iota::<i32>(shape![BM]).reshape(shape![BM, 1]).broadcast(shape![BM, 8 * N]) + i * BM;
              let column = iota::<i32>(shape![8 * N]).reshape(shape![1, 8 * N]).broadcast(shape![BM, 8 * N]) + j * 8 * N;
              select(ge_tile(row, column), products, constant(f32::NEG_INFINITY, shape![BM, 8 * N]))
          }]]

local FORMS = { -- a maximum, the unit of the scores, turns of the loop, scores, the rest of a turn
  full = { MOST, "scale", "num_tiles(&pk, 1)", "products", ONLINE },
  capped = { MOST, CAPPED_UNIT, "num_tiles(&pk, 1)", CAPPED, ONLINE },
  bounded = { "", CAPPED_UNIT, "num_tiles(&pk, 1)", CAPPED, BOUNDED },
  causal = { MOST, "scale", "((i + 1) * BM + 8 * N - 1) / (8 * N)", MASKED, ONLINE },
}
local SAFE, UNCHECKED = "#[tile]", "#[cutile::entry(unchecked_accesses = true)] unsafe"

-- The kernel `name` of a form; `unchecked` leaves its checks out.
local function source(form, name, unchecked)
  return SOURCE:format(unchecked and UNCHECKED or SAFE, name, table.unpack(FORMS[form]))
end

return { source = source, cap = CAP, log2_e = LOG2_E }
