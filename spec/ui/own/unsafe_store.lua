-- Unsafe code that stores to a `&Tensor` borrows it as mutable all the same.
local gpu = require "gpulua"
local k = gpu.kernels [[
  #[tile]
  unsafe fn shift(z: &Tensor<f32, {[-1]}>, x: &Tensor<f32, {[-1]}>) {
      let mut m = z.partition_full_mut(shape![4]);
      m.store(x.load_tile(shape![4], [program_id(0)]) + 1.0, [program_id(0)]);
  }
]]
local shift = k.shift:with { grid = { 2 } }
local z, x = gpu.zeros { 8 }, gpu.arange(8)
print(shift(z, x):sync() == z, z)
print(select(2, pcall(shift, z, z)))
x:freeze()
print(shift(z, x):sync() == z)
print(select(2, pcall(shift, x, z)))
