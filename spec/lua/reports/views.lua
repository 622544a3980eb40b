local gpu = require "gpulua"
local show = require "show"

local k = gpu.kernels [[
  #[cutile::entry(deny_in_kernel_checks = true)]
  fn product<const MAP: [i32; 2]>(mut z: MappedPartitionMut<f32, {[8, 8]}, MAP>, x: &Tensor<f32, {[-1, -1]}>, y: &Tensor<f32, {[-1, -1]}>) {
      let px = x.partition(shape![8, 8]);
      let py = y.partition(shape![8, 8]);
      for index in z.iter_indices() {
          let (m, n) = index.components();
          let mut sum = constant(0.0f32, shape![8, 8]);
          for i in 0..num_tiles(&px, 1) { sum = mma(px.load([m, i]), py.load([i, n]), sum); }
          z.store(sum, index);
      }
  }
  #[tile]
  fn bounded<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
      let n = Dim::new(x.shape()[0] / B);
      let p = x.partition(shape![B]).with_bounds((n,));
      z.store(constant(0.0f32, shape![B]));
  }
]]

local x, y, z = gpu.ones { 8, 16 }, gpu.ones { 8, 8 }, gpu.zeros { 8, 8 }
show("extents that a denied check asks for", function() k.product(z:tiles { 8, 8 }:map({ 1, 1 }, 1), x, y):sync() end)
show("more blocks than tiles", function() return z:tiles { 8, 8 }:map({ 1, 1 }, 2) end)
show("a map of another rank", function() return z:tiles { 8, 8 }:map({ 1 }, 1) end)
show("a map that shares nothing out", function() return z:tiles { 8, 8 }:map({ 0, 0 }, 1) end)
local v = gpu.zeros { 8 }
show("a bound that does not hold", function()
  k.bounded(v:tiles { 8 }, gpu.ones { 9 }):sync()
  print(v)
end)
