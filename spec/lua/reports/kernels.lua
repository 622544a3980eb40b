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
