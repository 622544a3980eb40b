-- A SIMT kernel: the code of one thread, thousands launched.
-- The thread's index is a witness: it gives each thread its own element of c.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[kernel]
  #[launch_bounds(256)]
  #[launch_contract(domain = 1, block = (256, 1, 1))]
  fn vecadd(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = c.get_mut(idx) {
          *out = a[i] + b[i];
      }
  }
]]

local n = 1000
local a, b, c = gpu.arange(n), gpu.full({n}, 0.5), gpu.empty{n}
k.vecadd(a, b, c):sync()
print(c)
