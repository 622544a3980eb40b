-- A step of AdamW: one kernel reads and writes the weights and both moments, each element once.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn adamw<const B: i32>(
      w: &mut Tensor<f32, {[B]}>, m: &mut Tensor<f32, {[B]}>, v: &mut Tensor<f32, {[B]}>, grad: &Tensor<f32, {[-1]}>,
      rate: f32, beta1: f32, beta2: f32, eps: f32, decay: f32, bias1: f32, bias2: f32,
  ) {
      let g = grad.load_like(w);
      let mean = m.load() * beta1 + g * (1.0 - beta1);
      let square = v.load() * beta2 + g * g * (1.0 - beta2);
      m.store(mean);
      v.store(square);
      let step = mean / bias1 / (sqrt(square / bias2) + eps);
      w.store(w.load() * (1.0 - rate * decay) - step * rate);
  }
]]

local n, steps, rate, beta1, beta2, eps, decay = 1000, 3, 0x1p-6, 0.875, 0.96875, 0x1p-20, 0.125 -- exact in f32
gpu.seed(16)
local w, m, v = gpu.randn { n }, gpu.zeros { n }, gpu.zeros { n }
local ws, ms, vs, worst = w:to_table(), m:to_table(), v:to_table(), 0
for step = 1, steps do
  local grad = gpu.randn { n }
  local bias1, bias2 = 1 - beta1 ^ step, 1 - beta2 ^ step
  k.adamw(w:tiles { 256 }, m:tiles { 256 }, v:tiles { 256 }, grad, rate, beta1, beta2, eps, decay, bias1, bias2):sync()
  -- The same in Lua, in doubles.
  for i, g in ipairs(grad:to_table()) do
    ms[i], vs[i] = ms[i] * beta1 + g * (1 - beta1), vs[i] * beta2 + g * g * (1 - beta2)
    ws[i] = ws[i] * (1 - rate * decay) - ms[i] / bias1 / (math.sqrt(vs[i] / bias2) + eps) * rate
  end
end
for i, got in ipairs(w:to_table()) do worst = math.max(worst, math.abs(got - ws[i])) end
print(w)
print(worst < 1e-5 and "as in Lua" or "differs by " .. worst)
