-- What the ownership cases share: a few kernels, and `try`, which prints a verdict.
local gpu = require "gpulua"
assert(gpu.device(os.getenv("GPULUA_DEVICE") or "cpu"))

local own = { gpu = gpu }

own.k = gpu.kernels([[
  #[tile]
  fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
      z.store(x.load_like(z) + y.load_like(z));
  }

  #[kernel]
  fn double(x: &[f32], mut z: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = z.get_mut(idx) { *out = x[i] * 2.0; }
  }
]], "own.rs")

-- Calls f and prints "ok" or the report of its error.
function own.try(f, ...)
  local ok, err = pcall(f, ...)
  if ok then
    print("ok")
  else
    print(type(err) == "string" and err or err:render())
  end
end

return own
