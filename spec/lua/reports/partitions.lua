-- What the host and a launch say of shapes, partitions and views that do not fit.
local gpu = require "gpulua"
local show = require "show"

local k = gpu.kernels [[
  #[tile]
  fn fixed(z: &mut Tensor<f32, {[2, 2]}>, x: &Tensor<f32, {[-1, 8]}>) {}
  #[tile]
  fn two<const A: i32>(z: &mut Tensor<f32, {[A]}>, y: &mut Tensor<f32, {[A]}>) {}
  #[tile]
  fn shared<const M: [i32; 2]>(mut z: MappedPartitionMut<f32, {[2, 2]}, M>) {}
  #[cutile::entry(preconditions = (dim(x, 1) == dim(y, 0), dim(x, 0) % 4 == 0))]
  fn needs(z: &mut Tensor<f32, {[2, 2]}>, x: &Tensor<f32, {[-1, -1]}>, y: &Tensor<f32, {[-1, -1]}>) {}
]]

local z, x = gpu.zeros { 4, 4 }, gpu.zeros { 4, 8 }

show("a rank of the tiles", function() k.fixed(gpu.zeros({ 4 }):tiles { 2 }, x) end)
show("a shape of the tiles", function() k.fixed(z:tiles { 4, 2 }, x) end)
show("an extent that the kernel names", function() k.fixed(z:tiles { 2, 2 }, z) end)
show("another rank", function() k.fixed(z:tiles { 2, 2 }, gpu.zeros { 8 }) end)
show("another dtype", function() k.fixed(z:tiles { 2, 2 }, gpu.zeros({ 4, 8 }, "f16")) end)
show("two grids", function() k.two(gpu.zeros({ 4 }):tiles { 2 }, gpu.zeros({ 8 }):tiles { 2 }) end)
show("two tile shapes", function() k.two(gpu.zeros({ 4 }):tiles { 2 }, gpu.zeros({ 8 }):tiles { 4 }) end)
show("a grid beside the partition's", function() k.fixed:with { grid = { 3, 2 } } (z:tiles { 2, 2 }, x) end)
show("a grid past a prefix", function() k.fixed:with { grid = { 3, 2 } } (z:tiles({ 2, 2 }):prefix(), x) end)
show("a prefix without a grid", function() k.fixed(z:tiles({ 2, 2 }):prefix(), x) end)
show("extents that are to be equal", function() k.needs(z:tiles { 2, 2 }, x, z) end)
show("an extent that is to be a multiple", function() k.needs(z:tiles { 2, 2 }, gpu.zeros { 6, 4 }, z) end)

show("a map of another rank", function() z:tiles({ 2, 2 }):map({ 1 }, 1) end)
show("a map without a streamed axis", function() z:tiles({ 2, 2 }):map({ 0, 0 }, 1) end)
show("a negative map", function() z:tiles({ 2, 2 }):map({ -1, 1 }, 1) end)
show("no blocks", function() z:tiles({ 2, 2 }):map({ 1, 1 }, 0) end)
show("more blocks than tiles", function() z:tiles({ 2, 2 }):map({ 1, 1 }, 50) end)
show("no map", function() k.shared(z:tiles { 2, 2 }) end)
show("a map for a plain tensor", function() k.fixed(z:tiles({ 2, 2 }):map({ 1, 1 }, 1), x) end)

show("tiles of another rank", function() z:tiles { 2 } end)
show("more ranges than axes", function() z:slice({ 1, 2 }, { 1, 2 }, { 1, 2 }) end)
show("a copy of another shape", function() z:copy_from(x) end)
show("a copy of another dtype", function() z:copy_from(gpu.zeros({ 4, 4 }, "i32")) end)
show("bytes that are not as many", function() z:reinterpret("f64", { 4, 4 }) end)
show("tiles of a frozen tensor", function()
  local frozen = gpu.zeros({ 4, 4 }):freeze()
  k.fixed(frozen:tiles { 2, 2 }, x)
end)
show("a partition of a frozen tensor", function()
  local frozen = gpu.zeros({ 4 }):freeze()
  frozen:partition { 2 }
end)
