-- How often each value occurs: every block adds its values to the same bins, atomically.
-- A pointer is not checked, so the kernel is unsafe: values are bins' indices.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  unsafe fn histogram<const B: i32>(bins: *mut i32, x: &Tensor<i32, {[-1]}>, n: i32) {
      let block = program_id(0);
      let values = x.load_tile(shape![B], [block]);
      let at = iota(shape![B]) + (block * B).broadcast(shape![B]);
      let is_in = lt_tile(at, n.broadcast(shape![B]));
      let places = pointer_to_tile(bins).reshape(shape![1]).broadcast(shape![B]).offset_tile(values);
      let (_, _token) = atomic_rmw_tko(places, constant(1i32, shape![B]), atomic::Add, ordering::Relaxed, scope::Device, Some(is_in), None);
  }
]]

local n, count = 10000, 16
local values, want = {}, {}
math.randomseed(5)
for i = 1, count do want[i] = 0 end
for i = 1, n do
  values[i] = math.random(0, count - 1)
  want[values[i] + 1] = want[values[i] + 1] + 1
end
local bins = gpu.zeros({ count }, "i32")
k.histogram:with { B = 256, grid = { (n + 255) // 256 } }(bins, gpu.from_table(values, "i32"), n):sync()

local wrong = 0
for i, got in ipairs(bins:to_table()) do if got ~= want[i] then wrong = wrong + 1 end end
print(bins)
print(wrong == 0 and "as in Lua" or wrong .. " bins differ")
