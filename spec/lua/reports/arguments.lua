local gpu = require "gpulua"
local show = require "show"

local k = gpu.kernels [[
  #[tile]
  fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
      z.store(x.load_like(z) + y.load_like(z));
  }
  #[tile]
  fn sub<T: ElementType, const B: i32>(z: &mut Tensor<T, {[B]}>, x: &Tensor<T, {[-1]}>) {
      z.store(x.load_like(z));
  }
  #[kernel]
  fn scale(n: u8, f: f32, flag: bool, mut z: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      if let Some(out) = z.get_mut(idx) { *out = if flag { f } else { n as f32 }; }
  }
  #[kernel]
  fn reads(x: &[f32], n: u32) {
      let _v = x[n as usize];
  }
]]

local x, z = gpu.ones { 1024 }, gpu.zeros { 1024 }

show("a dtype", function()
  k.add(z:tiles { 128 }, gpu.zeros({ 1024 }, "f16"), x)
end)
show("a rank", function()
  k.add(z:tiles { 128 }, gpu.zeros { 32, 32 }, x)
end)
show("a rank of tiles", function()
  z:tiles { 8, 16 }
end)
show("a device", function()
  k.add(z:tiles { 128 }, x:to "interp", x)
end)
show("a freed tensor", function()
  local t = gpu.zeros { 1024 }
  t:free()
  k.add(z:tiles { 128 }, t, x)
end)
show("no tiles", function()
  k.add(z, x, x)
end)
show("tiles of an input", function()
  k.add(z:tiles { 128 }, x:tiles { 128 }, x)
end)
show("too few", function()
  k.add(z:tiles { 128 }, x)
end)
show("too many", function()
  k.add(z:tiles { 128 }, x, x, 1)
end)
show("a string", function()
  k.add(z:tiles { 128 }, "x", x)
end)
show("nil", function()
  k.scale(nil, 1, true, z)
end)
show("a table", function()
  k.scale({ 1 }, 1, true, z)
end)
show("a number that is too large", function()
  k.scale(256, 1, true, z)
end)
show("a negative number", function()
  k.scale(-1, 1, true, z)
end)
show("a fraction", function()
  k.scale(1.5, 1, true, z)
end)
show("a float without a fraction", function()
  k.scale(7.0, 1, false, z):sync()
  print(z[1])
end)
show("a number that f32 does not hold", function()
  k.scale(1, 16777217, true, z)
end)
show("a number for a bool", function()
  k.scale(1, 1, 1, z)
end)
show("a bool for a number", function()
  k.scale(true, 1, true, z)
end)
show("a tile of nothing", function()
  z:tiles { 0 }
end)
show("a tile that is no power of two", function()
  k.add(z:tiles { 100 }, x, x):sync()
  print(z)
end)
show("an unknown generic", function()
  k.add:with { C = 128 }
end)
show("a schedule that no GPU can do", function()
  k.add:with { warps = 64 }
end)
show("clusters that are no power of two", function()
  k.add:with { cluster = { 3 } }
end)
show("a schedule of a SIMT kernel", function()
  k.scale:with { stages = 2 }
end)
show("a schedule that is no number", function()
  k.add:with { warps = "all" }
end)
show("persistence that is no boolean", function()
  k.add:with { persistent = 2 }
end)
show("a generic that differs from the tiles", function()
  k.add:with { B = 64 } (z:tiles { 128 }, x, x)
end)
show("a generic that is no type", function()
  k.sub:with { T = "f99" } (z:tiles { 128 }, x)
end)
show("two types for one generic", function()
  k.sub(z:tiles { 128 }, gpu.zeros({ 1024 }, "f64"))
end)
show("a grid that cannot be inferred", function()
  k.reads(x, 1)
end)
show("a grid that is given", function()
  k.reads:with { grid = { 1 }, block = { 1 } } (x, 1):sync()
end)
show("a grid of nothing", function()
  k.reads:with { grid = { 0 } }
end)
show("a block that is too large", function()
  k.reads:with { grid = 1, block = { 2048 } } (x, 1)
end)
show("options that are no options", function()
  k.reads:with { 1 }
end)
show("a kernel that is not there", function()
  k.nothing(x)
end)
show("an axis that no i32 counts", function()
  local rows = gpu.kernels [[ #[tile] fn rows<const B: i32>(z: &mut Tensor<f32, {[1, B]}>) { z.store(constant(0.0f32, shape![1, B])); } ]].rows
  rows(gpu.zeros { 2147483648, 0 }:tiles { 1, 4 })
end)
local linear = gpu.kernels [[
  #[kernel]
  fn linear(mut z: DisjointSlice<f32>) {
      let at = thread::index_1d();
      if let Some(out) = z.get_mut(at) { *out = 1.0; }
  }
]].linear
show("a linear index on two axes", function()
  linear:with { block = { 4, 2 } } (z)
end)
show("a linear index on three", function()
  linear:with { grid = { 1, 1, 2 } } (z)
end)
