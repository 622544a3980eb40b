-- The text of products that gemm_source has not: renamed and in another order, with a bias and gelu behind
-- the sum.
return {
  renamed = [[
  #[tile]
  fn renamed<const R: i32, const P: i32, const Q: i32>(
      right: &Tensor<bf16, {[-1, -1]}>, left: &Tensor<bf16, {[-1, -1]}>, out: &mut Tensor<bf16, {[P, Q]}>) {
      let tiles_of_right = right.partition(shape![R, Q]);
      let tiles_of_left = left.partition(shape![P, R]);
      let column = program_id(1);
      let row = program_id(0);
      let mut sum = constant(0.0f32, shape![P, Q]);
      let steps = num_tiles(&tiles_of_right, 0);
      for step in 0..steps {
          let r = tiles_of_right.load([step, column]);
          let l = tiles_of_left.load([row, step]);
          sum = mma(l, r, sum);
      }
      let rounded: Tile<bf16, {[P, Q]}> = convert_tile(sum);
      out.store(rounded);
  }
]],
  bias_gelu = [[
  #[tile]
  fn bias_gelu<const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<bf16, {[BM, BN]}>, a: &Tensor<bf16, {[-1, -1]}>, b: &Tensor<bf16, {[-1, -1]}>,
      bias: &Tensor<f32, {[-1]}>) {
      let (i, j, _) = get_tile_block_id();
      let pa = a.partition(shape![BM, BK]);
      let pb = b.partition(shape![BK, BN]);
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) {
          acc = mma(pa.load([i, l]), pb.load([l, j]), acc);
      }
      let row = bias.partition(shape![BN]).load([j]).reshape(shape![1, BN]);
      let x = acc + row.broadcast(shape![BM, BN]);
      let half = x * 0.5;
      let y = half * tanh(x * (x * x * 0.0356774081 + 0.7978845608), rounding::Approx) + half;
      c.store(convert_tile(y));
  }
]],
}
