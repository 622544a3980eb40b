-- The text of matrix products: a block makes one tile, going along the depth.
local SOURCE = [[
  %s fn %s<T: ElementType, O: ElementType, const BM: i32, const BN: i32, const BK: i32>(
      c: &mut Tensor<O, {[BM, BN]}>, a: &Tensor<T, {[-1, -1]}>, b: &Tensor<T, {[-1, -1]}>) {
      let (i, j, _) = get_tile_block_id();
      let pa = a.partition(shape![%s]);
      let pb = b.partition(shape![%s]);
      let mut acc = constant(0.0f32, shape![BM, BN]);
      for l in 0..num_tiles(&pa, %d) {
          acc = mma(%s, %s, acc);
      }
      c.store(convert_tile(acc));
  }
]]
local FORMS = { -- tiles of the operands, the first one's axis of the depth, how they are loaded
  plain = { "BM, BK", "BK, BN", 1, "pa.load([i, l])", "pb.load([l, j])" },
  transposed = { "BM, BK", "BN, BK", 1, "pa.load([i, l])", "pb.load([j, l]).transpose()" },
  first_transposed = { "BK, BM", "BK, BN", 0, "pa.load([l, i]).transpose()", "pb.load([l, j])" },
}
local SAFE, UNCHECKED = "#[tile]", "#[cutile::entry(unchecked_accesses = true)] unsafe"

-- The kernel `name` of a form: operands as they are, the second or the first transposed; `unchecked` leaves
-- its checks out.
return function(form, name, unchecked)
  return SOURCE:format(unchecked and UNCHECKED or SAFE, name, table.unpack(FORMS[form]))
end
