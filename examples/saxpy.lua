-- y = alpha * x + y, written in both tracks; the results are equal bit for bit.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn saxpy_tile<const B: i32>(y: &mut Tensor<f32, {[B]}>, alpha: f32, x: &Tensor<f32, {[-1]}>) {
      let tx = x.load_like(y);
      let ty = y.load();
      y.store(alpha * tx + ty);
  }

  #[kernel]
  fn saxpy_simt(alpha: f32, x: &[f32], mut y: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = y.get_mut(idx) {
          *out = alpha * x[i] + *out;
      }
  }
]]

local n = 1000003 -- no multiple of any tile: the last block is clipped
local x, y1 = gpu.randn{n}, gpu.randn{n}
local y2 = y1:copy()

k.saxpy_tile(y1:tiles{1024}, 2.5, x):sync()
k.saxpy_simt(2.5, x, y2):sync()

print(y1)
print(y2)
assert(y1:to_bytes() == y2:to_bytes(), "the two tracks differ")
