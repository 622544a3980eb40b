-- What a kernel's failed check does on a device: the error names the place, tensors stay usable, the
-- next launch works. Prints a line for each check; exits 1 when one is wrong.
local gpu = require "gpulua"

local kernels = gpu.kernels([[
  #[kernel]
  fn shift(x: &[f32], by: u32, mut z: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = z.get_mut(idx) { *out = x[i + by as usize]; }
  }

  #[tile]
  fn twice<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
      let t = x.load_like(z);
      z.store(t + t);
  }
]], "faults.rs")

local wrong = 0
local function check(is_right, what)
  print((is_right and "ok   " or "FAIL ") .. what)
  if not is_right then wrong = wrong + 1 end
end

local n = 1000
local x, z = gpu.randn { n }, gpu.full({ n }, 0 / 0)

local ok, err = pcall(function() kernels.shift(x, 1, z):sync() end)
local text = tostring(err)
check(not ok, "an index past the end fails")
check(text:find("shift", 1, true) and text:find("1000", 1, true), "the error names the kernel and the limit")
if not ok then print((text:gsub("\nstack traceback.*", ""):gsub("\n", "\n     "))) end

z = gpu.full({ n }, 0 / 0)
ok, err = pcall(function() kernels.shift(x, 0, z):sync() end)
check(ok and z:to_bytes() == x:to_bytes(), "the same kernel works afterwards" .. (ok and "" or ": " .. tostring(err)))

z = gpu.full({ n }, 0 / 0)
ok, err = pcall(function() kernels.twice(z:tiles { 128 }, x):sync() end)
local is_equal = ok
for i = 1, n do is_equal = is_equal and z[i] == 2 * x[i] end
check(is_equal, "a tile kernel works afterwards" .. (ok and "" or ": " .. tostring(err)))

os.exit(wrong == 0, true)
