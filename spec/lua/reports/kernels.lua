local gpu = require "gpulua"
local show = require "show"

show("a syntax error", function()
  gpu.kernels [[
    #[kernel]
    fn f(x: &[f32]) {
        let y = x[0;
    }
  ]]
end)

show("two errors", function()
  gpu.kernels [[
    #[kernel]
    fn f(x: &[f32], mut z: DisjointSlice<f32>) {
        let idx = thread::index_1d();
        let a: i32 = x[0];
        if let Some(out) = z.get_mut(idx) { *out = b; }
    }
  ]]
end)

show("a text that is not in the script", function()
  gpu.kernels("#[kernel] fn g() { " .. "something" .. "(); }")
end)

show("a name", function()
  gpu.kernels("#[kernel] fn f() { nothing(); }", "mine.rs")
end)

show("an empty text", function()
  print(gpu.kernels "")
end)
show("a number", function()
  gpu.kernels(1, {})
end)
show("nothing", function()
  gpu.kernels()
end)

local functions = gpu.kernels [[
  fn scale<const B: i32>(z: &mut Tensor<f32, {[B]}>, by: f32) { z.store(z.load() * by); }

  /// Sets all elements.
  pub fn fill(mut z: DisjointSlice<f32>) {
      if let Some(out) = z.get_mut(thread::index_1d()) { *out = twice(1.0); }
  }

  fn twice(x: f32) -> f32 { 2.0 * x }
]]
local z = gpu.zeros { 8 }
show("a function that is no kernel", function()
  functions.scale(z:tiles { 4 }, 2.0):sync()
end)
show("a function of threads that is no kernel", function()
  functions.fill(z):sync()
end)
show("a function that cannot be a kernel", function()
  print(functions["twice"](2.0))
end)
