-- Functions of which only rounded results are used: exponentials that are rounded to 16 bits or added up, quotients that are
-- rounded. Against doubles: what is left out must not be seen, whatever masks and factors there are.
local gpu = require "gpulua"

local KERNELS = [[
#[tile]
fn softmax<const N: i32>(z: &mut Tensor<bf16, {[1, N]}>, x: &Tensor<f32, {[-1, -1]}>, mask: &Tensor<f32, {[-1, -1]}>, scale: f32, away: f32) {
    let seen = mask.load_like(z);
    let t = x.load_like(z) * scale + (constant(1.0f32, shape![1, N]) - seen) * away;
    let most = reduce_max(t, 1).reshape(shape![1, 1]);
    let weights = exp(t - most.broadcast(shape![1, N]));
    let sum = reduce_sum(weights, 1).reshape(shape![1, 1]);
    z.store(convert_tile(weights / sum.broadcast(shape![1, N])));
}
// Online, for N keys a turn: `for`, `while` and `if`. The first keys of a row may all be masked.
#[tile]
fn counted<const M: i32, const N: i32>(z: &mut Tensor<bf16, {[M, 1]}>, x: &Tensor<f32, {[-1, -1]}>, mask: &Tensor<f32, {[-1, -1]}>, v: &Tensor<f32, {[-1, -1]}>, scale: f32, away: f32) {
    let (px, pm, pv) = (x.partition(shape![M, N]), mask.partition(shape![M, N]), v.partition(shape![1, N]));
    let i = program_id(0);
    let mut most = constant(-1.0e30f32, shape![M, 1]);
    let mut sum = constant(0.0f32, shape![M, 1]);
    let mut acc = constant(0.0f32, shape![M, 1]);
    for j in 0..num_tiles(&px, 1) {
        let seen = gt_tile(pm.load([i, j]), constant(0.0f32, shape![M, N]));
        let t = max_tile(select(seen, px.load([i, j]) * scale, away.broadcast(shape![M, N])), constant(-1.0f32, shape![M, N]));
        let next = max_tile(most, reduce_max(t, 1).reshape(shape![M, 1]));
        let weights = exp(t - next.broadcast(shape![M, N]));
        let shrink = exp(most - next);
        sum = sum * shrink + reduce_sum(weights, 1).reshape(shape![M, 1]);
        let rounded: Tile<bf16, {[M, N]}> = convert_tile(weights);
        let values = convert_tile::<f32>(rounded) * pv.load([0, j]).broadcast(shape![M, N]);
        acc = acc * shrink + reduce_sum(values, 1).reshape(shape![M, 1]);
        most = next;
    }
    z.store(convert_tile(acc / sum));
}
#[tile]
fn looped<const M: i32, const N: i32>(z: &mut Tensor<bf16, {[M, 1]}>, x: &Tensor<f32, {[-1, -1]}>, mask: &Tensor<f32, {[-1, -1]}>, v: &Tensor<f32, {[-1, -1]}>, scale: f32, away: f32) {
    let (px, pm, pv) = (x.partition(shape![M, N]), mask.partition(shape![M, N]), v.partition(shape![1, N]));
    let i = program_id(0);
    let mut most = constant(f32::NEG_INFINITY, shape![M, 1]);
    let mut sum = constant(0.0f32, shape![M, 1]);
    let mut acc = constant(0.0f32, shape![M, 1]);
    let mut j = 0;
    while j < num_tiles(&px, 1) {
        let scores = px.load([i, j]) * scale;
        let t = if j % 2 == 0 { scores } else {
            let seen = gt_tile(pm.load([i, j]), constant(0.0f32, shape![M, N]));
            select(seen, scores, away.broadcast(shape![M, N]))
        };
        let t = t + (constant(1.0f32, shape![M, N]) - pm.load([i, j])) * away;
        let next = max_tile(most, reduce_max(t, 1).reshape(shape![M, 1]));
        let weights = exp(t - next.broadcast(shape![M, N]));
        let shrink = exp(most - next);
        sum = sum * shrink + reduce_sum(weights, 1).reshape(shape![M, 1]);
        let rounded: Tile<bf16, {[M, N]}> = convert_tile(weights);
        acc = acc * shrink + reduce_sum(convert_tile::<f32>(rounded) * pv.load([0, j]).broadcast(shape![M, N]), 1).reshape(shape![M, 1]);
        most = next;
        j += 1;
    }
    z.store(convert_tile(acc / sum));
}
#[tile]
fn sums<const N: i32>(z: &mut Tensor<f32, {[1]}>, x: &Tensor<f32, {[-1, -1]}>) {
    z.store(reduce_sum(exp(x.load_tile(shape![1, N], [program_id(0), 0])), 1));
}
// Stored as they are besides: nothing is left out.
#[tile]
fn kept<const N: i32>(z: &mut Tensor<f32, {[N]}>, y: &mut Tensor<bf16, {[N]}>, x: &Tensor<f32, {[-1]}>) {
    let e = exp(x.load_like(z) * 2.0 - 1.0);
    z.store(e);
    y.store(convert_tile(e));
}
#[tile]
fn full<const N: i32>(y: &mut Tensor<bf16, {[N]}>, z: &mut Tensor<f32, {[1]}>, x: &Tensor<f32, {[-1]}>) {
    let e = exp(x.load_like(y) * 2.0 - 1.0, rounding::Full);
    z.store(reduce_sum(e.reshape(shape![1, N]), 1));
    y.store(convert_tile(e));
}
#[tile]
fn plain<const N: i32>(z: &mut Tensor<f32, {[N]}>, x: &Tensor<f32, {[-1]}>) { z.store(exp(x.load_like(z) * 2.0 - 1.0)); }
#[tile]
fn sigmoids<const N: i32>(z: &mut Tensor<bf16, {[N]}>, y: &mut Tensor<f16, {[N]}>, x: &Tensor<f32, {[-1]}>) {
    let t = x.load_like(z);
    z.store(convert_tile(t * (1.0 / (exp(-t) + 1.0))));
    y.store(convert_tile(t / (1.0 + exp(t * -1.702))));
}
#[tile]
fn quotients<const M: i32, const N: i32>(z: &mut Tensor<f16, {[M, N]}>, y: &mut Tensor<bf16, {[M, N]}>, t: &mut Tensor<f32, {[M, N]}>, x: &Tensor<f32, {[-1, -1]}>, c: &Tensor<f32, {[-1, -1]}>, d: f32) {
    let a = x.load_like(z);
    let row = c.load_tile(shape![M, 1], [program_id(0), 0]).broadcast(shape![M, N]);
    z.store(convert_tile(a / row));
    y.store(convert_tile(-(a / d)));
    t.store(tanh(a / d, rounding::Approx) + tanh(a / 3.0, rounding::Approx));
}
]]

local MOST = 3.4028234663852886e38
local ROWS, KEYS = 8, 64

local function normal() return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random()) end

-- f() for each element.
local function tensor_of(rows, columns, f)
  local t = {}
  for i = 1, rows do
    t[i] = {}
    for j = 1, columns do t[i][j] = f() end
  end
  return gpu.from_table(t)
end

-- Scores of rows: usual, large, far apart, all masked.
local function scores()
  local x, mask = {}, {}
  for i = 1, ROWS do
    x[i], mask[i] = {}, {}
    for j = 1, KEYS do
      local size = i == 2 and 300 or i == 3 and 3e4 or 3
      x[i][j] = normal() * size + j / 4 -- a mean of the keys shows where they are cut off
      mask[i][j] = (i == 4 or (i == 5 and j <= KEYS // 2) or (i > 5 and math.random() < 0.3)) and 0 or 1
    end
  end
  return x, mask
end

local function weights_of(t)
  local most, sum, w = -math.huge, 0, {}
  for j = 1, #t do most = math.max(most, t[j]) end
  for j = 1, #t do
    w[j] = math.exp(t[j] - most)
    sum = sum + w[j]
  end
  for j = 1, #t do w[j] = w[j] / sum end
  return w
end

-- Rounding of a score, of which there are large ones, is in the power.
local function is_close(got, want, size) return math.abs(got - want) <= (2 ^ -7 + size * 2 ^ -20) * math.abs(want) + 2 ^ -30 end

local function f32(v) return string.unpack("<f", string.pack("<f", v)) end

local CASES = { { 0.5, -1e30 }, { 0.125, -MOST }, { -0.25, -3e38 }, { 1, -1e4 } }

return function(h)
  local k
  local function group(name, f)
    h.group("narrow." .. name, function()
      math.randomseed(h.seed_of("narrow", name))
      k = k or gpu.kernels(KERNELS, "cases_narrow")
      f()
    end)
  end

  group("softmax", function()
    for _, case in ipairs(CASES) do
      local scale, away = table.unpack(case)
      local x, mask = scores()
      local z = gpu.zeros({ ROWS, KEYS }, "bf16")
      k.softmax:with { N = KEYS }(z:tiles { 1, KEYS }, gpu.from_table(x), gpu.from_table(mask), scale, away):sync()
      local got, xs = z:to_table(), gpu.from_table(x):to_table()
      for i = 1, ROWS do
        local t = {}
        for j = 1, KEYS do t[j] = math.max(-MOST, f32(xs[i][j] * scale) + (1 - mask[i][j]) * f32(away)) end
        -- Where all are masked, scores are lost in the mask's rounding.
        if i == 4 then for j = 1, KEYS do t[j] = f32(t[j]) end end
        local want, size = weights_of(t), i == 3 and 3e4 or i == 4 and 1e4 or 300
        for j = 1, KEYS do
          if not h.check(is_close(got[i][j], want[j], size), "scale %g, mask %g: row %d, key %d is %g, not %g", scale, away, i, j, got[i][j], want[j]) then return end
        end
      end
    end
  end)

  for _, name in ipairs { "counted", "looped" } do
    group(name, function()
      for _, case in ipairs(CASES) do
        local scale, away = table.unpack(case)
        local x, mask = scores()
        local key = 0
        local v = tensor_of(1, KEYS, function() key = key + 1; return key end)
        local z = gpu.zeros({ ROWS, 1 }, "bf16")
        k[name]:with { N = 16 }(z:tiles { 4, 1 }, gpu.from_table(x), gpu.from_table(mask), v, scale, away):sync()
        local got, xs, vs = z:to_table(), gpu.from_table(x):to_table(), v:to_table()[1]
        for i = 1, ROWS do
          local t, want = {}, 0
          local is_sum = name == "looped"
          for j = 1, KEYS do
            local is_masked = mask[i][j] == 0
            t[j] = f32(xs[i][j] * scale)
            if not is_sum then t[j] = math.max(-1, is_masked and away or t[j]) end
            if is_masked and is_sum then t[j] = math.max(-MOST, ((j - 1) // 16 % 2 == 1 and f32(away) or t[j]) + f32(away)) end
            t[j] = f32(t[j])
          end
          -- Scores that are lost in a mask.
          if i == 4 and is_sum then goto continue end
          for j, w in ipairs(weights_of(t)) do want = want + w * vs[j] end
          if not h.check(is_close(got[i][1], want, i == 3 and 3e4 or 300), "%s, scale %g, mask %g: row %d is %g, not %g", name, scale, away, i, got[i][1], want) then return end
          ::continue::
        end
      end
    end)
  end

  group("sums", function()
    for _, at in ipairs { 0, 70, -70, 80 } do
      local x, z = tensor_of(ROWS, KEYS, function() return normal() + at end), gpu.zeros { ROWS }
      k.sums:with { N = KEYS }(z:tiles { 1 }, x):sync()
      local xs, got = x:to_table(), z:to_table()
      for i = 1, ROWS do
        local want = 0
        for j = 1, KEYS do want = want + math.exp(xs[i][j]) end
        if not h.check(math.abs(got[i] - want) <= 2 ^ -16 * want, "sums at %g: %g, not %g", at, got[i], want) then return end
      end
    end
  end)

  group("kept", function()
    local x = tensor_of(1, 1000, function() return 20 * normal() end):reshape { 1000 }
    local z, other, y = gpu.zeros { 1000 }, gpu.zeros { 1000 }, gpu.zeros({ 1000 }, "bf16")
    k.kept:with { N = 128 }(z:tiles { 128 }, y:tiles { 128 }, x):sync()
    k.plain:with { N = 128 }(other:tiles { 128 }, x):sync()
    h.check(z:to_bytes() == other:to_bytes(), "exponentials that are stored are less exact")
    local sums = gpu.zeros { 8 }
    k.full:with { N = 128 }(y:tiles { 128 }, sums:tiles { 1 }, x):sync()
    h.check(y:to_bytes() == other:convert("bf16"):to_bytes(), "exponentials with rounding::Full are less exact")
  end)

  group("sigmoids", function()
    local x = tensor_of(1, 1000, function() return 3 * normal() ^ 3 end):reshape { 1000 }
    local z, y = gpu.zeros({ 1000 }, "bf16"), gpu.zeros({ 1000 }, "f16")
    k.sigmoids:with { N = 128 }(z:tiles { 128 }, y:tiles { 128 }, x):sync()
    local xs, zs, ys = x:to_table(), z:to_table(), y:to_table()
    for i, v in ipairs(xs) do
      local a, b = v / (1 + math.exp(-v)), v / (1 + math.exp(-1.702 * v))
      local is_right = math.abs(zs[i] - a) <= 2 ^ -8 * 1.001 * math.abs(a) + 2 ^ -120 and
        math.abs(ys[i] - b) <= 2 ^ -11 * 1.001 * math.abs(b) + 2 ^ -25 * 1.001
      if not h.check(is_right, "%g gives %g and %g, not %g and %g", v, zs[i], ys[i], a, b) then return end
    end
  end)

  group("quotients", function()
    for _, d in ipairs { 3, -7.5, 1e30, 1e-30 } do
      local size = math.abs(d) > 1e20 and 1e30 or math.abs(d) < 1e-20 and 1e-30 or 1
      local x = tensor_of(ROWS, KEYS, function() return normal() * size end)
      local c = tensor_of(ROWS, 1, function() return (0.5 + math.random()) * size end)
      local z, y, t = gpu.zeros({ ROWS, KEYS }, "f16"), gpu.zeros({ ROWS, KEYS }, "bf16"), gpu.zeros { ROWS, KEYS }
      k.quotients:with { M = 4, N = KEYS }(z:tiles { 4, KEYS }, y:tiles { 4, KEYS }, t:tiles { 4, KEYS }, x, c, d):sync()
      local xs, cs, zs, ys, ts = x:to_table(), c:to_table(), z:to_table(), y:to_table(), t:to_table()
      for i = 1, ROWS do
        for j = 1, KEYS do
          local a, q = xs[i][j] / cs[i][1], -(xs[i][j] / d)
          local function tanh(v) return v > 20 and 1 or v < -20 and -1 or (math.exp(2 * v) - 1) / (math.exp(2 * v) + 1) end
          local both = tanh(xs[i][j] / d) + tanh(xs[i][j] / 3)
          local is_right = math.abs(zs[i][j] - a) <= 2 ^ -11 * 1.001 * math.abs(a) + 2 ^ -24 and
            math.abs(ys[i][j] - q) <= 2 ^ -8 * 1.001 * math.abs(q) and math.abs(ts[i][j] - both) <= 2 ^ -10
          if not h.check(is_right, "by %g: %g gives %g, %g, %g", d, xs[i][j], zs[i][j], ys[i][j], ts[i][j]) then return end
        end
      end
    end
  end)
end
