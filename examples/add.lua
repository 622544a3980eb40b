-- A tile kernel: one logical thread for each block of data.
-- B, the tile's extent, and the grid follow from the arguments.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
      let tx = x.load_like(z);
      let ty = y.load_like(z);
      z.store(tx + ty);
  }
]]

local x, y, z = gpu.ones{1024}, gpu.arange(1024), gpu.zeros{1024}
k.add(z:tiles{128}, x, y):sync()
print(z)
