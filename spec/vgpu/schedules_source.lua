-- The kernels of schedules.lua.
return [[
  #[tile]
  fn carried<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      let end = num_tiles(&pa, 1);
      let mut l = if i < end { i } else { 0 };
      for _ in 0..end {
          acc = mma(pa.load([i, l]), pb.load([l, j]), acc);
          l = if l + 1 < end { l + 1 } else { 0 };
      }
      c.store(acc);
  }
  // What another loop counted decides where the tiles lie: as many turns as the block's row.
  #[tile]
  fn counted<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      let end = num_tiles(&pa, 1);
      let mut l = 0;
      for _ in 0..i { l = if l + 1 < end { l + 1 } else { 0 }; }
      for _ in 0..end {
          acc = mma(pa.load([i, l]), pb.load([l, j]), acc);
          l = if l + 1 < end { l + 1 } else { 0 };
      }
      c.store(acc);
  }
  // Tiles that are loaded, then others like them that are loaded and read, then the first are read.
  #[tile]
  fn amid<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      let outer = pa.load([i, 2]);
      for l in 0..num_tiles(&pa, 1) {
          let (x, y) = (pa.load([i, l]), pb.load([l, j]));
          if l != 1 { acc = mma(pa.load([i, 0]), pb.load([0, j]), acc); }
          acc = mma(x, y, acc * 2.0f32);
      }
      acc = mma(outer, pb.load([2, j]), acc);
      c.store(acc);
  }
  #[tile]
  fn added<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = c.load();
      for l in 0..num_tiles(&pa, 1) {
          acc = mma(pa.load([i, l]), pb.load([l, j]), acc);
      }
      c.store(acc);
  }
  // Tiles that are copied ahead: another tensor's; the one that is stored; the first of two.
  #[tile]
  fn residual<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<bf16, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, r: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) { acc = mma(pa.load([i, l]), pb.load([l, j]), acc); }
      let more: Tile<f32, {[BM, BN]}> = convert_tile(r.partition(shape![BM, BN]).load([i, j]));
      c.store(convert_tile(acc + more));
  }
  #[tile]
  fn renewed<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<bf16, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, r: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) { acc = mma(pa.load([i, l]), pb.load([l, j]), acc); }
      let old: Tile<f32, {[BM, BN]}> = convert_tile(c.load());
      let more: Tile<f32, {[BM, BN]}> = convert_tile(r.partition(shape![BM, BN]).load([i, j]));
      c.store(convert_tile(acc + old + more));
  }
  // Blocks that leave behind such a load write nothing where the next tile's is copied to.
  #[tile]
  fn unstored<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<bf16, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, r: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) { acc = mma(pa.load([i, l]), pb.load([l, j]), acc); }
      let more: Tile<f32, {[BM, BN]}> = convert_tile(r.partition(shape![BM, BN]).load([i, j]));
      let sum = acc + more;
      if (i + j) % 2 == 0 { return; }
      c.store(convert_tile(sum));
  }
  #[tile]
  fn attention<const BM: i32, const BN: i32, const D: i32, const CAUSAL: bool, const CAPPED: bool>(
      o: &mut Tensor<f32, {[BM, D]}>, q: &Tensor<bf16, {[-1, D]}>, k: &Tensor<bf16, {[-1, D]}>,
      v: &Tensor<bf16, {[-1, D]}>, scale: f32) {
      let i = program_id(0);
      let (pk, pv) = (k.partition(shape![BN, D]), v.partition(shape![BN, D]));
      let tq = q.partition(shape![BM, D]).load([i, 0]);
      let mut most = constant(f32::NEG_INFINITY, shape![BM, 1]);
      let mut sum = constant(0.0f32, shape![BM, 1]);
      let mut acc = constant(0.0f32, shape![BM, D]);
      let all = if CAUSAL { i * BM / BN } else { num_tiles(&pk, 0) };
      for j in 0..all {
          let products = mma(tq, pk.load([j, 0]).transpose(), constant(0.0f32, shape![BM, BN]));
          let scores = if CAPPED { tanh(products * scale, rounding::Approx) * (3.0 / scale) } else { products };
          let next = max_tile(most, reduce_max(scores, 1).reshape(shape![BM, 1]) * scale);
          let weights = exp2(scores * scale - next.broadcast(shape![BM, BN]));
          let shrink = exp2(most - next);
          sum = sum * shrink + reduce_sum(weights, 1).reshape(shape![BM, 1]);
          acc = mma(convert_tile(weights), pv.load([j, 0]), acc * shrink.broadcast(shape![BM, D]));
          most = next;
      }
      let end = if CAUSAL { ((i + 1) * BM + BN - 1) / BN } else { all };
      for j in all..end {
          let row = iota::<i32>(shape![BM]).reshape(shape![BM, 1]).broadcast(shape![BM, BN]) + i * BM;
          let column = iota::<i32>(shape![BN]).reshape(shape![1, BN]).broadcast(shape![BM, BN]) + j * BN;
          let products = mma(tq, pk.load([j, 0]).transpose(), constant(0.0f32, shape![BM, BN]));
          let scores = select(ge_tile(row, column), products, constant(f32::NEG_INFINITY, shape![BM, BN]));
          let next = max_tile(most, reduce_max(scores, 1).reshape(shape![BM, 1]) * scale);
          let weights = exp2(scores * scale - next.broadcast(shape![BM, BN]));
          let shrink = exp2(most - next);
          sum = sum * shrink + reduce_sum(weights, 1).reshape(shape![BM, 1]);
          acc = mma(convert_tile(weights), pv.load([j, 0]), acc * shrink.broadcast(shape![BM, D]));
          most = next;
      }
      o.store(acc / sum.broadcast(shape![BM, D]));
  }
  #[tile]
  fn masked<const BM: i32, const BN: i32, const D: i32>(
      o: &mut Tensor<f32, {[BM, D]}>, q: &Tensor<bf16, {[-1, D]}>, k: &Tensor<bf16, {[-1, D]}>,
      v: &Tensor<bf16, {[-1, D]}>, scale: f32) {
      let i = program_id(0);
      let (pk, pv) = (k.partition(shape![BN, D]), v.partition(shape![BN, D]));
      let tq = q.partition(shape![BM, D]).load([i, 0]);
      let mut most = constant(f32::NEG_INFINITY, shape![BM, 1]);
      let mut sum = constant(0.0f32, shape![BM, 1]);
      let mut acc = constant(0.0f32, shape![BM, D]);
      for j in 0..((i + 1) * BM + BN - 1) / BN {
          let products = mma(tq, pk.load([j, 0]).transpose(), constant(0.0f32, shape![BM, BN]));
          let scores = if j < i * BM / BN { products } else {
              let row = iota::<i32>(shape![BM]).reshape(shape![BM, 1]).broadcast(shape![BM, BN]) + i * BM;
              let column = iota::<i32>(shape![BN]).reshape(shape![1, BN]).broadcast(shape![BM, BN]) + j * BN;
              select(ge_tile(row, column), products, constant(f32::NEG_INFINITY, shape![BM, BN]))
          };
          let next = max_tile(most, reduce_max(scores, 1).reshape(shape![BM, 1]) * scale);
          let weights = exp2(scores * scale - next.broadcast(shape![BM, BN]));
          let shrink = exp2(most - next);
          sum = sum * shrink + reduce_sum(weights, 1).reshape(shape![BM, 1]);
          acc = mma(convert_tile(weights), pv.load([j, 0]), acc * shrink.broadcast(shape![BM, D]));
          most = next;
      }
      o.store(acc / sum.broadcast(shape![BM, D]));
  }
  // A tile of a third tensor is read beside the products, before the first one's sums or behind the second.
  #[tile]
  fn biased<B: ElementType, const BM: i32, const BN: i32, const D: i32, const AGAIN: bool>(
      o: &mut Tensor<f32, {[BM, D]}>, q: &Tensor<bf16, {[-1, D]}>, k: &Tensor<bf16, {[-1, D]}>,
      v: &Tensor<bf16, {[-1, D]}>, bias: &Tensor<B, {[-1, -1, -1]}>, scale: f32) {
      let i = program_id(0);
      let (pk, pv, pb) = (k.partition(shape![BN, D]), v.partition(shape![BN, D]), bias.partition(shape![1, BM, BN]));
      let tq = q.partition(shape![BM, D]).load([i, 0]);
      let mut most = constant(f32::NEG_INFINITY, shape![BM, 1]);
      let mut sum = constant(0.0f32, shape![BM, 1]);
      let mut all = constant(0.0f32, shape![BM, 1]);
      let mut acc = constant(0.0f32, shape![BM, D]);
      for j in 0..num_tiles(&pk, 0) {
          let added = pb.load([1, i, j]).reshape(shape![BM, BN]);
          let products = mma(tq, pk.load([j, 0]).transpose(), constant(0.0f32, shape![BM, BN]));
          let scores = products * scale + convert_tile::<f32>(added);
          let next = max_tile(most, reduce_max(scores, 1).reshape(shape![BM, 1]));
          let weights = exp2(scores - next.broadcast(shape![BM, BN]));
          let shrink = exp2(most - next);
          sum = sum * shrink + reduce_sum(weights, 1).reshape(shape![BM, 1]);
          acc = mma(convert_tile(weights), pv.load([j, 0]), acc * shrink.broadcast(shape![BM, D]));
          most = next;
          if AGAIN { all = all + reduce_sum(convert_tile::<f32>(added), 1).reshape(shape![BM, 1]); }
      }
      o.store(acc / sum.broadcast(shape![BM, D]) + all.broadcast(shape![BM, D]));
  }
  // A tile that is worked on last in a branch, where another of its tensor is read.
  #[tile]
  fn within<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, added: &Tensor<f32, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb, pe) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]), added.partition(shape![BM, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) {
          let outer = pe.load([i, 0]);
          acc = mma(pa.load([i, l]), pb.load([l, j]), acc);
          if l != 1 { acc = mma(pa.load([i, 0]), pb.load([0, j]), acc + pe.load([i, 1])) + outer; }
      }
      c.store(acc);
  }
  // Where the tiles of a turn lie is read from a table.
  #[tile]
  fn paged<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, table: &Tensor<i32, {[-1, 2]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..get_tensor_shape(table)[0] {
          let page = tile_to_scalar(table.load_tile(shape![1, 1], [l, 1]).reshape(shape![]));
          acc = mma(pa.load([i, page]), pb.load([page, j]), acc);
      }
      c.store(acc);
  }
  // The first operand is made of two tiles that are loaded in each turn, of bytes and of words.
  #[tile]
  fn restored<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<i8, {[-1, -1]}>, scale: &Tensor<f32, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, ps, pb) = (a.partition(shape![BM, BK]), scale.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) {
          let first = convert_tile::<f32>(pa.load([i, l])) * ps.load([i, l]);
          acc = mma(convert_tile::<bf16>(first), pb.load([l, j]), acc);
      }
      c.store(acc);
  }
  #[tile]
  fn nested<const BM: i32, const BN: i32, const BK: i32>(c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for g in 0..num_tiles(&pa, 1) {
          let first = pa.load([i, g]);
          for l in 0..2 {
              acc = mma(first, pb.load([g, j]), acc);
              if l == 1 { acc = mma(pa.load([i, g]), pb.load([g, j]), acc); }
          }
          let other = pb.load([g, j]);
          acc = mma(first, other, acc);
      }
      c.store(acc);
  }
  #[tile]
  fn handed<const BM: i32, const BN: i32, const BK: i32>(c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      let mut at = 0;
      for g in 0..num_tiles(&pa, 1) {
          acc = mma(pa.load([i, g]), pb.load([at, j]), acc);
          at = at + 1;
      }
      for g in 0..num_tiles(&pa, 1) {
          let h = num_tiles(&pa, 1) - 1 - g;
          acc = mma(pa.load([i, h]), pb.load([h, j]), acc);
      }
      c.store(acc);
  }
  #[tile]
  fn left<const BM: i32, const BN: i32, const BK: i32>(c: &mut Tensor<bf16, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      'all: for _ in 0..4 {
          for l in 0..num_tiles(&pa, 1) {
              if l == 2 { break 'all; }
              acc = mma(pa.load([i, l]), pb.load([l, j]), acc);
          }
      }
      c.store(convert_tile(acc));
  }
  // Blocks that end at once, in a loop and behind it; loops that end by what only they know; divisors
  // that are checked.
  #[tile]
  fn parting<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<bf16, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, one: i32) {
      let (i, j) = (program_id(0) / one, program_id(1) % (2 * one));
      if i == 3 { return; }
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      let first = pa.load([i, 0]);
      let mut l = 0;
      while l < num_tiles(&pa, 1) / one {
          if i == 2 && l == 1 { return; }
          let y = pb.load([l / one, j]);
          acc = mma(pa.load([i, l]), y, acc);
          l += one;
          if i == 1 && l == 3 { continue; }
          acc = mma(first, pb.load([0, j]), acc);
          assert!(one != 3);
      }
      let all = loop {
          if l == 0 { break acc; }
          l -= one;
          acc = mma(pa.load([i, l]), pb.load([l, j]), acc);
      };
      if one < 0 { return; }
      let third = iota::<i32>(shape![BM]) / one.broadcast(shape![BM]);
      c.store(convert_tile(all + convert_tile::<f32>(third - third).reshape(shape![BM, 1]).broadcast(shape![BM, BN])));
  }
  #[tile]
  fn decoded<T: ElementType, O: ElementType, const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<O, {[BM, BN]}>, a: &Tensor<T, {[-1, -1]}>, b: &Tensor<T, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) {
          let second: Tile<T, {[BK, BN]}> = convert_tile(convert_tile::<f32>(pb.load([l, j])) * 2.0f32);
          acc = mma(pa.load([i, l]), second, acc);
      }
      for l in 0..num_tiles(&pa, 1) {
          let first: Tile<T, {[BM, BK]}> = convert_tile(convert_tile::<f32>(pa.load([i, l])) * 2.0f32);
          acc = mma(first, pb.load([l, j]), acc);
      }
      c.store(convert_tile(acc));
  }
  #[tile]
  fn whole<const BM: i32, const BN: i32, const BK: i32>(c: &mut Tensor<i32, {[BM, BN]}>, a: &Tensor<i8, {[-1, -1]}>, b: &Tensor<i8, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BN, BK]));
      let mut acc = constant(0i32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) {
          acc = mma(pa.load([i, l]), pb.load([j, l]).transpose(), acc);
      }
      c.store(acc);
  }
  // From no turns to three: what was loaded once is given back on every way through.
  #[tile]
  fn uneven<const BM: i32, const BN: i32, const D: i32>(
      o: &mut Tensor<f32, {[BM, D]}>, q: &Tensor<bf16, {[-1, D]}>, k: &Tensor<bf16, {[-1, D]}>,
      v: &Tensor<bf16, {[-1, D]}>) {
      let i = program_id(0);
      let (pk, pv) = (k.partition(shape![BN, D]), v.partition(shape![BN, D]));
      let tq = q.partition(shape![BM, D]).load([i, 0]);
      let mut acc = constant(1.0f32, shape![BM, D]);
      for j in 0..i % 4 {
          let products = mma(tq, pk.load([j, 0]).transpose(), constant(0.0f32, shape![BM, BN]));
          let scores = if j >= 2 { products * 0.5f32 } else { products };
          acc = mma(convert_tile(scores), pv.load([j, 0]), acc);
      }
      o.store(acc);
  }
  // Masks in all turns that keep every element of most: keys of a window, of the causal half, of a length.
  #[tile]
  fn seen<const BM: i32, const BN: i32, const D: i32, const FORM: i32>(
      o: &mut Tensor<f32, {[BM, D]}>, q: &Tensor<bf16, {[-1, D]}>, k: &Tensor<bf16, {[-1, D]}>,
      v: &Tensor<bf16, {[-1, D]}>, scale: f32, window: i32, length: i32) {
      let i = program_id(0);
      let (pk, pv) = (k.partition(shape![BN, D]), v.partition(shape![BN, D]));
      let tq = q.partition(shape![BM, D]).load([i, 0]);
      let mut most = constant(-1.0e30f32, shape![BM, 1]);
      let mut sum = constant(0.0f32, shape![BM, 1]);
      let mut acc = constant(0.0f32, shape![BM, D]);
      let row = (iota::<i32>(shape![BM]) + i * BM).reshape(shape![BM, 1]).broadcast(shape![BM, BN]);
      let last = (length - 1) / BN;
      for j in 0..num_tiles(&pk, 0) {
          let column = (iota::<i32>(shape![BN]) + j * BN).reshape(shape![1, BN]).broadcast(shape![BM, BN]);
          let s = mma(tq, pk.load([j, 0]).transpose(), constant(0.0f32, shape![BM, BN])) * scale;
          let is_in = lt_tile(column, length.broadcast(shape![BM, BN]));
          let s = if FORM == 0 {
              let is_seen = ge_tile(row, column) & lt_tile(row - column, window.broadcast(shape![BM, BN])) & is_in;
              select(is_seen, s, constant(-1.0e30f32, shape![BM, BN]))
          } else if FORM == 1 {
              if (j + 1) * BN > i * BM || j * BN < (i + 1) * BM - window || BN + BN * j - 1 >= length {
                  let is_seen = ge_tile(row, column) & lt_tile(row - column, window.broadcast(shape![BM, BN])) & is_in;
                  select(is_seen, s, constant(-1.0e30f32, shape![BM, BN]))
              } else { s }
          } else if FORM == 2 {
              let is_hidden: Tile<f32, {[BM, BN]}> = convert_tile(!(ge_tile(row, column) & is_in) | le_tile(column + window, row));
              s - is_hidden * 1.0e30f32
          } else {
              let s = if j != last { s } else { select(is_in, s, constant(-1.0e30f32, shape![BM, BN])) };
              select(gt_tile(column, row) | ge_tile(row - column, window.broadcast(shape![BM, BN])), constant(-1.0e30f32, shape![BM, BN]), s)
          };
          let next = max_tile(most, reduce_max(s, 1).reshape(shape![BM, 1]));
          let weights = exp2(s - next.broadcast(shape![BM, BN]));
          let shrink = exp2(most - next);
          sum = sum * shrink + reduce_sum(weights, 1).reshape(shape![BM, 1]);
          acc = mma(convert_tile(weights), pv.load([j, 0]), acc * shrink.broadcast(shape![BM, D]));
          most = next;
      }
      o.store(acc / sum.broadcast(shape![BM, D]));
  }
  // What is stored was loaded before, is stored again in each turn, and takes another tensor in.
  #[tile]
  fn updated<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<bf16, {[BM, BN]}>, d: &mut Tensor<bf16, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>,
      b: &Tensor<bf16, {[-1, -1]}>, r: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) {
          acc = mma(pa.load([i, l]), pb.load([l, j]), acc);
          d.store(convert_tile(acc));
      }
      let add: Tile<bf16, {[BM, BN]}> = r.partition(shape![BM, BN]).load([i, j]);
      let sum = acc + convert_tile::<f32>(c.load()) * 2.0f32 + convert_tile(add);
      c.store(convert_tile(sum));
  }
  // Loops over tiles of different tensors one after the other, of which the second has others in its turns.
  #[tile]
  fn gathered<const BM: i32, const BN: i32, const N: i32, const BK: i32>(
      rows: &mut Tensor<f32, {[BM, 1]}>, columns: &mut Tensor<f32, {[1, BN]}>, along: &mut Tensor<f32, {[BM, BN]}>,
      down: &mut Tensor<f32, {[BM, BN]}>, across: &mut Tensor<f32, {[BM, BN]}>, eighths: &mut Tensor<f32, {[BM, 8]}>,
      a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) { acc = mma(pa.load([i, l]), pb.load([l, j]), acc); }
      rows.store(reduce_max(acc, 1).reshape(shape![BM, 1]));
      columns.store(reduce_sum(acc, 0).reshape(shape![1, BN]));
      along.store(scan_sum(acc, 1, reverse::Forward, 0.0f32));
      down.store(scan_sum(acc, 0, reverse::Forward, 0.0f32));
      across.store(acc);
      eighths.store(reduce_sum(acc.reshape(shape![BM, N, 8]), 1));
  }
  #[tile]
  fn apart<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>,
      d: &Tensor<bf16, {[-1, -1]}>, e: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let (pd, pe) = (d.partition(shape![BM, BK]), e.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) { acc = mma(pa.load([i, l]), pb.load([l, j]), acc); }
      for l in 0..num_tiles(&pd, 1) {
          let (x, y) = (pd.load([i, l]), pe.load([l, j]));
          if l == 1 { acc = mma(pa.load([i, l]), pb.load([l, j]), acc); }
          acc = mma(x, y, acc);
      }
      c.store(acc);
  }
  // Divisions behind a product: of each number by each.
  #[tile]
  fn divided<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>,
      above: &Tensor<f32, {[-1]}>, below: &Tensor<f32, {[-1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) { acc = mma(pa.load([i, l]), pb.load([l, j]), acc); }
      let above = above.load_tile(shape![BM], [i]).reshape(shape![BM, 1]).broadcast(shape![BM, BN]);
      let below = below.load_tile(shape![BN], [j]).reshape(shape![1, BN]).broadcast(shape![BM, BN]);
      c.store((acc * above) / below);
  }
  #[tile]
  fn inverted<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, below: &Tensor<f32, {[-1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) { acc = mma(pa.load([i, l]), pb.load([l, j]), acc); }
      let below = below.load_tile(shape![BN], [j]).reshape(shape![1, BN]).broadcast(shape![BM, BN]);
      c.store(1.0f32 / (acc * below));
  }
  // A loop over heads around that over keys, of which each head has another number.
  #[tile]
  fn heads<const BM: i32, const BN: i32, const D: i32, const H: i32>(
      o: &mut Tensor<f32, {[H, BM, D]}>, q: &Tensor<bf16, {[-1, -1, D]}>, k: &Tensor<bf16, {[-1, -1, D]}>,
      v: &Tensor<bf16, {[-1, -1, D]}>, lengths: &Tensor<i32, {[-1]}>) {
      let i = program_id(1);
      let mut parts = o.partition_mut(shape![1, BM, D]);
      let (pk, pv) = (k.partition(shape![1, BN, D]), v.partition(shape![1, BN, D]));
      for h in 0..H {
          let length = tile_to_scalar(lengths.load_tile(shape![1], [h]).reshape(shape![]));
          let tq = q.partition(shape![1, BM, D]).load([h, i, 0]).reshape(shape![BM, D]);
          let mut acc = constant(0.0f32, shape![BM, D]);
          for j in 0..ceil_div(length, BN) {
              let column = (iota::<i32>(shape![BN]) + j * BN).reshape(shape![1, BN]).broadcast(shape![BM, BN]);
              let s = mma(tq, pk.load([h, j, 0]).reshape(shape![BN, D]).transpose(), constant(0.0f32, shape![BM, BN]));
              let s = select(lt_tile(column, length.broadcast(shape![BM, BN])), s, constant(0.0f32, shape![BM, BN]));
              acc = mma(convert_tile(s), pv.load([h, j, 0]).reshape(shape![BN, D]), acc);
          }
          parts.store(acc.reshape(shape![1, BM, D]), [h, 0, 0]);
      }
  }
  // Comparisons of numbers that wrap, and loops of other first turns; products two in a turn.
  #[tile]
  fn bent<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>,
      from: i32, step: i32, shift: i32, limit: i32) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in from..from + num_tiles(&pa, 1) / 2 {
          let t = 2 * (l - from);
          acc += mma(pa.load([i, t]), pb.load([t, j]), constant(0.0f32, shape![BM, BN]));
          let x = if (l + shift) * 5 > limit { acc * 2.0f32 } else { acc };
          let x = if limit - 3 * l <= step { -x } else { x };
          acc = mma(pa.load([i, t + 1]), pb.load([t + 1, j]), x);
      }
      c.store(acc);
  }
  // Loops whose products two warpgroups issue by turns, with something between them that all threads wait for, each
  // way: more tiles than two stages hold, a sum over all rows, also in a branch, a loop over tiles.
  #[tile]
  fn turned<const BM: i32, const BN: i32, const BK: i32, const NK: i32, const FORM: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let zero = constant(0.0f32, shape![BM, BN]);
      let (mut x, mut y, mut z) = (zero, zero, zero);
      for l in 0..NK {
          let (next, last) = ((l + 1) % NK, NK - 1 - l);
          x = mma(pa.load([i, l]), pb.load([l, j]), x);
          if FORM == 0 {
              y = mma(pa.load([i, next]), pb.load([next, j]), y);
          } else if FORM == 1 || (FORM == 2 && l % 2 == 0) {
              y = y + reduce_sum(z - y, 0).reshape(shape![1, BN]).broadcast(shape![BM, BN]);
          } else if FORM == 3 {
              for k in 0..NK { y = mma(pa.load([i, k]), pb.load([k, j]), y); }
          }
          z = mma(pa.load([i, last]), pb.load([last, j]), z);
      }
      if FORM == 1 || FORM == 2 { y = y * 0.0f32; }
      c.store(x + y + z);
  }
  // Sums that begin with what a loop hands on, and that it hands on in another place, also through another product.
  #[tile]
  fn swapped<const BM: i32, const BN: i32, const BK: i32, const FORM: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BK, BN]));
      let (mut x, mut y) = (constant(0.0f32, shape![BM, BN]), constant(1.0f32, shape![BM, BN]));
      for l in 0..num_tiles(&pa, 1) {
          let sums = mma(pa.load([i, l]), pb.load([l, j]), x);
          if FORM == 0 {
              x = y;
              y = sums;
          } else {
              x = y;
              y = mma(pa.load([i, l]), pb.load([l, j]), sums);
          }
      }
      c.store(x + y * 2.0f32);
  }
  // Sums that take the place of what is read behind their product, while products that nobody reads are under way too.
  #[tile]
  fn taken<const BM: i32, const BN: i32, const BK: i32, const NK: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, n: i32, times: i32) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BN, BK]));
      let (one, most) = (constant(1.0f32, shape![BM, BN]), constant(32.0f32, shape![BM, BN]));
      let (mut x, mut y) = (constant(0.0f32, shape![BM, BN]), constant(3.0f32, shape![BM, BN]));
      for l in 0..n {
          let sums = mma(pa.load([i, l % NK]), pb.load([j, (l + 1) % NK]).transpose(), y);
          y = max_tile(min_tile(one + x, most), -most);
          for _ in 0..times { let _unread = mma(pa.load([i, (l + 1) % NK]), pb.load([j, (l + 1) % NK]).transpose(), sums); }
          x = sums;
          let _unread = mma(pa.load([i, (l + 2) % NK]), pb.load([j, (l + 2) % NK]).transpose(), y);
      }
      c.store(x);
  }
  // A loop that can be split, in a branch of a loop that could be too.
  #[tile]
  fn deep<const BM: i32, const BN: i32, const D: i32>(
      o: &mut Tensor<f32, {[BM, D]}>, q: &Tensor<bf16, {[-1, D]}>, k: &Tensor<bf16, {[-1, D]}>,
      v: &Tensor<bf16, {[-1, D]}>, n: i32, m: i32) {
      let i = program_id(0);
      let (pk, pv) = (k.partition(shape![BN, D]), v.partition(shape![BN, D]));
      let tq = q.partition(shape![BM, D]).load([i, 0]);
      let mut acc = constant(0.0f32, shape![BM, D]);
      for j in 0..n {
          let mut s = mma(tq, pk.load([j, 0]).transpose(), constant(0.0f32, shape![BM, BN]));
          if j < m {
              for l in 0..n { s = mma(tq, pk.load([l, 0]).transpose(), if l < m { s } else { s * 0.5f32 }); }
          } else { s = s * 2.0f32; }
          acc = mma(convert_tile(s), pv.load([j, 0]), acc);
      }
      o.store(acc);
  }
  // First operands that are loaded once: transposed or not, and read by two loops; in a loop, and read by a loop or
  // none; beside a second operand that the same product reads.
  #[tile]
  fn held<E: ElementType, const BM: i32, const BN: i32, const D: i32, const FORM: i32>(
      c: &mut Tensor<f32, {[BM, BN]}>, q: &Tensor<E, {[-1, -1]}>, k: &Tensor<E, {[-1, -1]}>) {
      let i = program_id(0);
      let (pk, zero) = (k.partition(shape![BN, D]), constant(0.0f32, shape![BM, BN]));
      let n = num_tiles(&pk, 0);
      let mut s = zero;
      if FORM == 0 {
          let tq = q.partition(shape![D, BM]).load([0, i]).transpose();
          for j in 0..n { s = mma(tq, pk.load([j, 0]).transpose(), s); }
          for j in 0..i { s = mma(tq, pk.load([j, 0]).transpose(), s * 2.0f32); }
      } else if FORM == 1 {
          let tq = q.partition(shape![BM, D]).load([i, 0]);
          for j in 0..n { s = mma(tq, pk.load([j, 0]).transpose(), s); }
          for j in 0..i { s = mma(tq, pk.load([j, 0]).transpose(), s * 2.0f32); }
      } else if FORM == 2 {
          for h in 0..n {
              let tq = q.partition(shape![BM, D]).load([min(h, i), 0]);
              if h <= i {
                  for j in 0..n { s = s + mma(tq, pk.load([j, 0]).transpose(), zero); }
                  for j in 1..i { s = mma(tq, pk.load([j, 0]).transpose(), s * 2.0f32); }
              }
          }
      } else {
          let (tq, tk) = (q.partition(shape![BM, D]).load([i, 0]), pk.load([0, 0]));
          for j in 0..n {
              s = mma(tq, tk.transpose(), s * 2.0f32);
              s = mma(q.partition(shape![BM, D]).load([i / 2, 0]), pk.load([j, 0]).transpose(), s);
          }
      }
      c.store(s);
  }
  // Rows of tiles, each a product of the same first operand.
  #[tile]
  fn once<const BM: i32, const BN: i32, const N: i32, const BK: i32>(
      c: &mut Tensor<f32, {[BM, N]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>) {
      let mut pc = c.partition_mut(shape![BM, BN]);
      let pb = b.partition(shape![BK, BN]);
      let ta = a.partition(shape![BM, BK]).load([program_id(0), 0]);
      for j in 0..num_tiles(&pb, 1) { pc.store(mma(ta, pb.load([0, j]), constant(0.0f32, shape![BM, BN])), [0, j]); }
  }
  // Sums of 8-bit products, which are added in parts where registers are few: of loops in loops, of two
  // accumulators beside each other, of two products in a row.
  #[tile]
  fn eighths<const BM: i32, const BN: i32, const BK: i32, const BESIDE: bool>(
      c: &mut Tensor<f32, {[BM, BN]}>, d: &mut Tensor<f32, {[BM, BN]}>, a: &Tensor<f8e5m2, {[-1, -1]}>,
      b: &Tensor<f8e5m2, {[-1, -1]}>, bias: &Tensor<f32, {[-1]}>) {
      let (i, j, _) = get_tile_block_id();
      let (pa, pb) = (a.partition(shape![BM, BK]), b.partition(shape![BN, BK]));
      let mut x = bias.load_tile(shape![BN], [j]).reshape(shape![1, BN]).broadcast(shape![BM, BN]);
      let mut y = constant(0.0f32, shape![BM, BN]);
      for _ in 0..2 {
          for l in 0..num_tiles(&pa, 1) {
              let (s, t) = (pa.load([i, l]), pb.load([j, l]).transpose());
              x = mma(s, t, x);
              if BESIDE { y = mma(s, t, y * 2.0f32); }
          }
      }
      let mut l = 0;
      while l < num_tiles(&pa, 1) {
          x = mma(pa.load([i, l]), pb.load([j, l]).transpose(), x);
          x = mma(pa.load([i, 0]), pb.load([j, l]).transpose(), x);
          l += 1;
      }
      c.store(x);
      d.store(y);
  }
  // Groups of rows that begin and end anywhere.
  fn at(t: &Tensor<i32, {[-1]}>, i: i32) -> i32 { tile_to_scalar(t.load_tile(shape![1], [i]).reshape(shape![])) }
  #[tile]
  unsafe fn grouped<E: ElementType, const BM: i32, const BN: i32, const BK: i32>(
      c: &Tensor<E, {[-1, -1]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1, -1]}>, ends: &Tensor<i32, {[-1]}>) {
      let (i, j, g) = get_tile_block_id();
      let (start, end) = (at(ends, g), at(ends, g + 1));
      let (pa, pb) = (a.slice(0, start, end).partition(shape![BM, BK]), b.partition(shape![1, BK, BN]));
      if i < num_tiles(&pa, 0) {
          let mut pc = c.slice(0, start, end).partition_full_mut(shape![BM, BN]);
          let mut acc = constant(0.0f32, shape![BM, BN]);
          for l in 0..num_tiles(&pa, 1) {
              acc = mma(pa.load([i, l]), pb.load([g, l, j]).reshape(shape![BK, BN]), acc);
          }
          pc.store(convert_tile::<E>(acc), [i, j]);
      }
  }
  // The first operand at addresses, which no copy reaches: threads load it a turn ahead, in `turns` turns.
  #[tile]
  unsafe fn addressed<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<bf16, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>, rows: &Tensor<i32, {[-1]}>, turns: i32) {
      let pb = b.partition(shape![BK, BN]);
      let from = get_tensor_base(a).reshape(shape![1, 1]).broadcast(shape![BM, BK]);
      let line = rows.load_tile(shape![BM], [program_id(0)]).reshape(shape![BM, 1]).broadcast(shape![BM, BK]);
      let depth = a.shape()[1];
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..turns {
          let k = iota(shape![BK]).reshape(shape![1, BK]).broadcast(shape![BM, BK]) + l * BK;
          let there = lt_tile(k, constant(depth, shape![BM, BK])) & ge_tile(line, constant(0, shape![BM, BK]));
          let (t, _) = load_ptr_tko(from.offset_tile(line * depth + k), ordering::Weak, None::<scope::TileBlock>, Some(there), None, None, Latency::<0>);
          acc = mma(t, pb.load([l, program_id(1)]), acc);
      }
      c.store(convert_tile::<bf16>(acc));
  }
]]
