-- Dropout: elements are kept with probability 1 - p and scaled so that the mean stays, the others are zero.
-- The random numbers come from the host, so that the same ones can be used again in a backward pass.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn dropout<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, random: &Tensor<f32, {[-1]}>, p: f32) {
      let is_kept = ge_tile(random.load_like(z), p.broadcast(shape![B]));
      let scaled = x.load_like(z) * (1.0 / (1.0 - p));
      z.store(select(is_kept, scaled, constant(0.0f32, shape![B])));
  }
]]

local n, p = 10000, 0.25
gpu.seed(6)
local x, random, z = gpu.randn { n }, gpu.rand { n }, gpu.empty { n }
k.dropout(z:tiles { 256 }, x, random, p):sync()

-- The same in Lua, in doubles.
local xs, rs, zs, worst, kept = x:to_table(), random:to_table(), z:to_table(), 0, 0
for i = 1, n do
  local is_kept = rs[i] >= p
  if is_kept then kept = kept + 1 end
  worst = math.max(worst, math.abs(zs[i] - (is_kept and xs[i] / (1 - p) or 0)))
end
print(z)
print(("%d of %d kept"):format(kept, n))
print(worst < 1e-6 and "as in Lua" or "differs by " .. worst)
