-- Rotary embedding: pairs of elements of each head are turned by an angle that depends on their place and the token's.
-- In `halves` a pair is an element of the first half and one of the second; in `pairs` its elements are neighbours, which
-- a change of shape puts on an axis of their own. A block takes all heads of a token.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn halves<const H: i32, const D: i32>(y: &mut Tensor<f32, {[1, H, 2 * D]}>, x: &Tensor<f32, {[-1, H, 2 * D]}>,
      cos: &Tensor<f32, {[-1, D]}>, sin: &Tensor<f32, {[-1, D]}>) {
      let token = program_id(0);
      let px = x.partition(shape![1, H, D]);
      let (a, b) = (px.load([token, 0, 0]), px.load([token, 0, 1]));
      let c = cos.load_tile(shape![1, D], [token, 0]).reshape(shape![1, 1, D]).broadcast(shape![1, H, D]);
      let s = sin.load_tile(shape![1, D], [token, 0]).reshape(shape![1, 1, D]).broadcast(shape![1, H, D]);
      let mut py = y.partition_mut(shape![1, H, D]);
      py.store(a * c - b * s, [0, 0, 0]);
      py.store(b * c + a * s, [0, 0, 1]);
  }

  #[tile]
  fn pairs<const H: i32, const D: i32>(y: &mut Tensor<f32, {[1, H, 2 * D]}>, x: &Tensor<f32, {[-1, H, 2 * D]}>,
      cos: &Tensor<f32, {[-1, D]}>, sin: &Tensor<f32, {[-1, D]}>) {
      let token = program_id(0);
      let both = x.load_like(y).reshape(shape![H, D, 2]);
      let (first, second) = (scalar_to_tile(0), scalar_to_tile(1));
      let a: Tile<f32, {[H, D, 1]}> = extract(both, [first, first, first]);
      let b: Tile<f32, {[H, D, 1]}> = extract(both, [first, first, second]);
      let c = cos.load_tile(shape![1, D], [token, 0]).reshape(shape![1, D, 1]).broadcast(shape![H, D, 1]);
      let s = sin.load_tile(shape![1, D], [token, 0]).reshape(shape![1, D, 1]).broadcast(shape![H, D, 1]);
      let turned: Tile<f32, {[H, D, 2]}> = cat(a * c - b * s, b * c + a * s, 2);
      y.store(turned.reshape(shape![1, H, 2 * D]));
  }
]]

local tokens, heads, half = 9, 4, 32
gpu.seed(12)
local x, angles = gpu.randn { tokens, heads, 2 * half }, { cos = {}, sin = {} }
for t = 1, tokens do
  angles.cos[t], angles.sin[t] = {}, {}
  for d = 1, half do
    local angle = (t - 1) * 10000 ^ (-(d - 1) / half)
    angles.cos[t][d], angles.sin[t][d] = math.cos(angle), math.sin(angle)
  end
end
local cos, sin = gpu.from_table(angles.cos), gpu.from_table(angles.sin)

-- The same in Lua, in doubles: pair d is of the elements i(d) and j(d).
local xs, worst = x:to_table(), 0
local function compare(y, i, j)
  local ys = y:to_table()
  for t = 1, tokens do
    for h = 1, heads do
      for d = 1, half do
        local a, b, c, s = xs[t][h][i(d)], xs[t][h][j(d)], angles.cos[t][d], angles.sin[t][d]
        worst = math.max(worst, math.abs(ys[t][h][i(d)] - (a * c - b * s)), math.abs(ys[t][h][j(d)] - (b * c + a * s)))
      end
    end
  end
end

local y = gpu.empty { tokens, heads, 2 * half }
k.halves(y:tiles { 1, heads, 2 * half }, x, cos, sin):sync()
compare(y, function(d) return d end, function(d) return d + half end)
k.pairs(y:tiles { 1, heads, 2 * half }, x, cos, sin):sync()
compare(y, function(d) return 2 * d - 1 end, function(d) return 2 * d end)
print(y)
print(worst < 1e-5 and "as in Lua" or "differs by " .. worst)
