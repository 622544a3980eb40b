-- The text of matrix products: a block makes one tile, going along the depth.
local SOURCE = [[
  %s fn %s<T: ElementType, O: ElementType, const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<O, {[BM, BN]}>, a: &Tensor<T, {[-1, -1]}>, b: &Tensor<T, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let pa = a.partition(shape![BM, BK]);
      let pb = b.partition(shape![%s]);
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, 1) {
          acc = mma(pa.load([i, l]), %s, acc);
      }
      c.store(convert_tile(acc));
  }
]]
local FORMS = {
  plain = { "BK, BN", "pb.load([l, j])" },
  transposed = { "BN, BK", "pb.load([j, l]).transpose()" },
}
local SAFE, UNCHECKED = "#[tile]", "#[cutile::entry(unchecked_accesses = true)] unsafe"

-- The kernel `name` of a form: the second operand as it is or transposed; `unchecked` leaves its checks out.
return function(form, name, unchecked)
  return SOURCE:format(unchecked and UNCHECKED or SAFE, name, table.unpack(FORMS[form]))
end
