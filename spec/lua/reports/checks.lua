local gpu = require "gpulua"
local show = require "show"

local k = gpu.kernels [[
  #[kernel]
  fn gather(x: &[f32], at: &[i32], mut z: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = z.get_mut(idx) {
          *out = x[at[i] as usize];
      }
  }
  #[tile]
  fn after<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
      let part = x.partition(shape![B]);
      z.store(part.load([program_id(0) + 1]));
  }
  #[kernel]
  fn divide(x: &[i32], y: &[i32], mut z: DisjointSlice<i32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = z.get_mut(idx) {
          *out = x[i] / y[i];
      }
  }
  #[kernel]
  fn positive(x: &[f32], mut z: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = z.get_mut(idx) {
          assert!(x[i] > 0.0, "only positive values");
          *out = x[i];
      }
  }
]]

local x, z = gpu.arange(10), gpu.zeros { 600 }
local at = gpu.zeros({ 600 }, "i32")
at[300] = 10

show("an index at the wait", function()
  k.gather(x, at, z):sync()
end)
show("the failure stays with what was written", function()
  print(z)
end)
show("what was overwritten is whole again", function()
  z:fill(1)
  at[300] = 9
  k.gather(x, at, z):sync()
  print(z[300], z[1])
end)
show("a negative index", function()
  at[1] = -1
  k.gather(x, at, z):run()
  at[1] = 0
  print(z[1])
end)
show("a device's wait", function()
  z:fill(0)
  at[2] = 11
  k.gather(x, at, z):run()
  gpu.sync()
end)
show("only once", function()
  gpu.sync()
end)
show("a tile past the last one", function()
  k.after(gpu.zeros { 256 }:tiles { 64 }, gpu.ones { 256 }):sync()
end)
show("a division", function()
  local a, b, q = gpu.ones({ 5 }, "i32"), gpu.from_table({ 1, 2, 0, 1, 1 }, "i32"), gpu.zeros({ 5 }, "i32")
  k.divide(a, b, q):sync()
end)
show("an assertion", function()
  local q = gpu.zeros { 3 }
  k.positive(gpu.from_table { 1, 2, -3 }, q):sync()
end)
