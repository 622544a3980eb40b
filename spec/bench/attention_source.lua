-- The text of attention kernels: online softmax over tiles of keys, two products a tile. The causal form
-- has masks only where a tile crosses the diagonal; the capped one bends its scores.
local LOG2_E = 1.4426950408889634

-- `o` comes with queries before heads, so that the blocks of a head follow each other and find its keys
-- in the cache.
local SOURCE = [[
  %s fn %s<const BM: i32, const BN: i32, const D: i32>(
      o: &mut Tensor<bf16, {[BM, 1, D]}>, q: &Tensor<bf16, {[-1, -1, D]}>, k: &Tensor<bf16, {[-1, -1, D]}>,
      v: &Tensor<bf16, {[-1, -1, D]}>, scale: f32) {
      let (i, head, _) = get_tile_block_id();
      let pq = q.partition(shape![1, BM, D]);
      let pk = k.partition(shape![1, BN, D]);
      let pv = v.partition(shape![1, BN, D]);
      let tq = pq.load([head, i, 0]).reshape(shape![BM, D]);
      let mut most = constant(f32::NEG_INFINITY, shape![BM, 1]);
      let mut sum = constant(0.0f32, shape![BM, 1]);
      let mut acc = constant(0.0f32, shape![BM, D]);
      let unit = %s;
      for j in 0..%s {
          let tk = pk.load([head, j, 0]).reshape(shape![BN, D]);
          let products = mma(tq, tk.transpose(), constant(0.0f32, shape![BM, BN]));
          let scores = %s;
          let tile_most = reduce_max(scores, 1).reshape(shape![BM, 1]) * unit;
          let next = max_tile(most, tile_most);
          let weights = exp2(scores * unit - next.broadcast(shape![BM, BN]), ftz::Enabled);
          let shrink = exp2(most - next);
          sum = sum * shrink + reduce_sum(weights, 1).reshape(shape![BM, 1]);
          let tv = pv.load([head, j, 0]).reshape(shape![BN, D]);
          acc = mma(convert_tile(weights), tv, acc * shrink.broadcast(shape![BM, D]));
          most = next;
      }
      let out: Tile<bf16, {[BM, D]}> = convert_tile(acc / sum.broadcast(shape![BM, D]));
      o.store(out.reshape(shape![BM, 1, D]));
  }
]]
-- CAP tanh(score / CAP); so low a cap that scores of normal inputs feel it.
local CAP = 3
local CAPPED_UNIT = ("%.9g"):format(CAP * LOG2_E)
local CAPPED = ("tanh(products * (scale / %s), rounding::Approx)"):format(CAPPED_UNIT)
-- Rows i BM.. see keys up to their own; the tiles before i BM / BN need no mask.
local MASKED = [[if j < i * BM / BN { products } else {
              let row = iota::<i32>(shape![BM]).reshape(shape![BM, 1]).broadcast(shape![BM, BN]) + i * BM;
              let column = iota::<i32>(shape![BN]).reshape(shape![1, BN]).broadcast(shape![BM, BN]) + j * BN;
              select(ge_tile(row, column), products, constant(f32::NEG_INFINITY, shape![BM, BN]))
          }]]

local FORMS = { -- the unit of the scores, turns of the loop, scores
  full = { "scale", "num_tiles(&pk, 1)", "products" },
  capped = { CAPPED_UNIT, "num_tiles(&pk, 1)", CAPPED },
  causal = { "scale", "((i + 1) * BM + BN - 1) / BN", MASKED },
}
local SAFE, UNCHECKED = "#[tile]", "#[cutile::entry(unchecked_accesses = true)] unsafe"

-- The kernel `name` of a form; `unchecked` leaves its checks out.
local function source(form, name, unchecked)
  return SOURCE:format(unchecked and UNCHECKED or SAFE, name, table.unpack(FORMS[form]))
end

return { source = source, cap = CAP, log2_e = LOG2_E }
