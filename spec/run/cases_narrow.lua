-- Functions of which only rounded results are used: exponentials that are rounded to 16 bits or added up, quotients that are
-- rounded. Against doubles: what is left out must not be seen, whatever masks and factors there are.
local gpu = require "gpulua"
local formats = require "formats"
local matrix = require "matrix"

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
fn tanhs<const N: i32>(z: &mut Tensor<bf16, {[N]}>, y: &mut Tensor<f16, {[N]}>, u: &mut Tensor<bf16, {[N]}>, v: &mut Tensor<f16, {[N]}>, w: &mut Tensor<bf16, {[N]}>, x: &Tensor<f32, {[-1]}>) {
    let t = x.load_like(z);
    z.store(convert_tile(tanh(t / 3.0)));
    y.store(convert_tile(tanh(t)));
    u.store(convert_tile(t * 0.5 * (tanh(t) + 1.0)));
    v.store(convert_tile((1.0 - tanh(t)) * 0.5));
    w.store(convert_tile(tanh(t * 2.0) * 0.5 + 0.5));
}
// Added to others, which may leave little.
#[tile]
fn added<const N: i32>(z: &mut Tensor<bf16, {[N]}>, y: &mut Tensor<f16, {[N]}>, u: &mut Tensor<bf16, {[N]}>, v: &mut Tensor<f16, {[N]}>, x: &Tensor<f32, {[-1]}>, r: &Tensor<bf16, {[-1]}>) {
    let t = x.load_like(z);
    let more: Tile<f32, {[N]}> = convert_tile(r.load_like(z));
    z.store(convert_tile(more + t / (1.0 + exp(-t))));
    y.store(convert_tile(t * 0.5 * (1.0 + tanh(t)) - more));
    u.store(convert_tile(exp(t) - more * 3.0));
    v.store(convert_tile(more + tanh(t)));
}
// What is added up of capped scores, in sums of one, and rounded to 16 bits; the logarithm of a sum.
#[tile]
fn capped<const M: i32, const N: i32>(z: &mut Tensor<bf16, {[M, N]}>, y: &mut Tensor<f16, {[M, N]}>, u: &mut Tensor<f32, {[M, N]}>, l: &mut Tensor<f32, {[M, 1]}>, x: &Tensor<f32, {[-1, -1]}>, cap: f32) {
    let t = x.load_like(z);
    z.store(convert_tile(exp(tanh(t / 64.0) * 64.0 - 64.0)));
    y.store(convert_tile(exp(tanh(t / 30.0) * 30.0 - 30.0)));
    let powers = exp(cap * tanh(t / cap) - cap.broadcast(shape![M, N]));
    u.store(reduce_sum(powers.reshape(shape![M, N, 1]), 2));
    let scores = tanh(t / 50.0) * 50.0;
    let most = reduce_max(scores, 1).reshape(shape![M, 1]);
    let sum = reduce_sum(exp(scores - most.broadcast(shape![M, N])), 1).reshape(shape![M, 1]);
    l.store(most + log(sum));
}
// A sum of a product of two tiles takes no factor, and one of its terms stands in an exponent of its own.
#[tile]
fn terms<const M: i32, const N: i32>(z: &mut Tensor<bf16, {[M, N]}>, y: &mut Tensor<bf16, {[M, N]}>, x: &Tensor<f32, {[-1, -1]}>, b: &Tensor<f32, {[-1, -1]}>, s: f32) {
    let u = x.load_like(z) * s;
    let t = x.load_like(z) * b.load_like(z) + u;
    z.store(convert_tile(exp(t - 1.0)));
    y.store(convert_tile(exp(u - 2.0)));
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

  group("added", function()
    local x = tensor_of(1, 1024, function() return math.min(10, 3 * normal() ^ 3) end):reshape { 1024 }
    local xs, ones = x:to_table(), {}
    -- Every other one is close to what the first form takes from it.
    for i, t in ipairs(xs) do ones[i] = i % 2 == 0 and normal() or -t / (1 + math.exp(-t)) end
    local r, outs, parts = gpu.from_table(ones, "bf16"), {}, {}
    for i, dtype in ipairs { "bf16", "f16", "bf16", "f16" } do
      outs[i] = gpu.zeros({ 1024 }, dtype)
      parts[i] = outs[i]:tiles { 128 }
    end
    k.added:with { N = 128 }(parts[1], parts[2], parts[3], parts[4], x, r):sync()
    local rs, got = r:to_table(), {}
    for i, out in ipairs(outs) do got[i] = out:to_table() end
    for i, t in ipairs(xs) do
      local tanh = 1 - 2 / (1 + math.exp(2 * t))
      local terms = { { rs[i], t / (1 + math.exp(-t)) }, { -rs[i], t / (1 + math.exp(-2 * t)) }, { -3 * rs[i], math.exp(t) }, { rs[i], tanh } }
      for form, of in ipairs(terms) do
        local want, size = of[1] + of[2], math.abs(of[1]) + math.abs(of[2])
        local off = (form == 4 and 2 ^ -20 or form == 2 and 2 ^ -15.9 or 2 ^ -19) * size + 2 ^ (form % 2 == 0 and -25 or -120)
        local rounding = (form % 2 == 0 and 2 ^ -11 or 2 ^ -8) * (math.abs(want) + off)
        local is_right = math.abs(got[form][i] - want) <= rounding + off
        if not h.check(is_right, "form %d of %g and %g is %g, not %g", form, t, rs[i], got[form][i], want) then return end
      end
    end
  end)

  local function tanh(x)
    local e = math.exp(-2 * math.abs(x))
    local near = x * (1 - x * x / 3 + 2 / 15 * x ^ 4)
    return math.abs(x) < 0.01 and near or (x < 0 and -1 or 1) * (1 - e) / (1 + e)
  end

  group("tanhs", function()
    local x = tensor_of(1, 4096, function() return normal() ^ 3 * 2 ^ math.random(-12, 3) end):reshape { 4096 }
    local outs = {}
    for i, dtype in ipairs { "bf16", "f16", "bf16", "f16", "bf16" } do outs[i] = gpu.zeros({ 4096 }, dtype) end
    local parts = {}
    for i, out in ipairs(outs) do parts[i] = out:tiles { 128 } end
    parts[6] = x
    k.tanhs:with { N = 128 }(table.unpack(parts)):sync()
    local xs, got = x:to_table(), {}
    for i, out in ipairs(outs) do got[i] = out:to_table() end
    for i, v in ipairs(xs) do
      local want = { tanh(v / 3), tanh(v), v / (1 + math.exp(-2 * v)), 1 / (1 + math.exp(2 * v)), 1 / (1 + math.exp(-4 * v)) }
      local bound = { 2 ^ -8 + 2 ^ -11, 2 ^ -11 + 2 ^ -14, 2 ^ -8 + 2 ^ -15, 2 ^ -11 + 2 ^ -15, 2 ^ -8 + 2 ^ -15 }
      for form = 1, 5 do
        local least = form % 2 == 0 and 2 ^ -25 or 2 ^ -120
        local is_right = math.abs(got[form][i] - want[form]) <= bound[form] * 1.001 * math.abs(want[form]) + least
        if not h.check(is_right, "form %d of %g is %g, not %g", form, v, got[form][i], want[form]) then return end
      end
    end
  end)

  group("tanhs.limits", function()
    local x = gpu.from_table { math.huge, -math.huge, 0 / 0, -0.0, 100, -100, 1e-30, -1e-30 }
    local outs, parts = {}, {}
    for i, dtype in ipairs { "bf16", "f16", "bf16", "f16", "bf16" } do
      outs[i] = gpu.zeros({ 8 }, dtype)
      parts[i] = outs[i]:tiles { 8 }
    end
    parts[6] = x
    k.tanhs:with { N = 8 }(table.unpack(parts)):sync()
    local want = {
      "1.0 -1.0 nan -0.0 1.0 -1.0", "1.0 -1.0 nan -0.0 1.0 -1.0", "inf nan nan -0.0 100.0 -0.0", "0.0 1.0 nan 0.5 0.0 1.0",
      "1.0 0.0 nan 0.5 1.0 0.0",
    }
    for form, out in ipairs(outs) do
      local t = {}
      for i, v in ipairs(out:to_table()) do t[i] = v ~= v and "nan" or tostring(v) end
      h.check(table.concat(t, " ", 1, 6) == want[form], "form %d: %s", form, table.concat(t, " "))
    end
  end)

  group("capped", function()
    for _, cap in ipairs { 0.5, 5, 50, 300 } do
      local x = tensor_of(ROWS, KEYS, function() return normal() * 2 ^ math.random(-3, 8) end)
      local z, y = gpu.zeros({ ROWS, KEYS }, "bf16"), gpu.zeros({ ROWS, KEYS }, "f16")
      local u, l = gpu.zeros { ROWS, KEYS }, gpu.zeros { ROWS, 1 }
      k.capped:with { M = 4, N = KEYS }(z:tiles { 4, KEYS }, y:tiles { 4, KEYS }, u:tiles { 4, KEYS }, l:tiles { 4, 1 }, x, cap):sync()
      local xs, zs, ys, us, ls = x:to_table(), z:to_table(), y:to_table(), u:to_table(), l:to_table()
      for i = 1, ROWS do
        local sum = 0
        for j = 1, KEYS do
          local v = xs[i][j]
          local a, b = math.exp(64 * tanh(v / 64) - 64), math.exp(30 * tanh(v / 30) - 30)
          local c = math.exp(cap * tanh(v / cap) - cap)
          sum = sum + math.exp(50 * tanh(v / 50))
          local is_right = math.abs(zs[i][j] - a) <= (2 ^ -8 + 2 ^ -10) * a + 2 ^ -126 and
            math.abs(ys[i][j] - b) <= (2 ^ -11 + 30 * 2 ^ -20) * b + 2 ^ -25 and
            math.abs(us[i][j] - c) <= (cap * 2 ^ -20 + 2 ^ -17) * c + 2 ^ -126
          if not h.check(is_right, "cap %g: %g gives %g, %g, %g, not %g, %g, %g", cap, v, zs[i][j], ys[i][j], us[i][j], a, b, c) then return end
        end
        h.check(math.abs(ls[i][1] - math.log(sum)) <= 50 * 2 ^ -20, "the logarithm is %.8g, not %.8g", ls[i][1], math.log(sum))
      end
    end
  end)

  -- Reciprocals of sums of powers are an operation of f32's; other types divide, each step rounded.
  group("reciprocals", function()
    for _, dtype in ipairs(formats.list) do
      local f = formats.of[dtype]
      local text = ("#[tile] fn f(z: &mut Tensor<bf16, {[64]}>, x: &Tensor<%s, {[-1]}>) { z.store(convert_tile(1.0 / (exp(-x.load_like(z)) + 1.0))); }"):format(dtype)
      if f.class ~= "float" or f.code then
        matrix.refused(h, "rcp_flush", dtype, text, "E0277", ("the trait bound `%s: FloatElement` is not satisfied"):format(dtype))
        goto continue
      end
      local kernel, bound = gpu.kernels(text).f, 2 ^ (2 - math.min(f.mantissa, 7))
      local x, z = tensor_of(1, 64, function() return normal() * (f.size == 1 and 1 or 4) end):reshape({ 64 }):convert(dtype), gpu.zeros({ 64 }, "bf16")
      kernel(z:tiles { 64 }, x):sync()
      local xs, got = x:convert("f32"):to_table(), z:to_table()
      for i, v in ipairs(xs) do
        local want = 1 / (1 + math.exp(-v))
        if not h.check(math.abs(got[i] - want) <= bound * want + 2 ^ -15, "%s: of %g it is %g, not %g", dtype, v, got[i], want) then return end
      end
      if dtype == "f32" then matrix.covers(h, kernel, dtype, "rcp_flush") else matrix.becomes(h, kernel, dtype, "rcp_flush", "div") end
      ::continue::
    end
  end)

  -- log(1 + exp(x)), whose sum is rounded where exp(x) is small.
  group("logarithms", function()
    for _, dtype in ipairs(formats.list) do
      local f = formats.of[dtype]
      local text = ("#[tile] fn f(z: &mut Tensor<bf16, {[64]}>, y: &mut Tensor<f16, {[64]}>, x: &Tensor<%s, {[-1]}>) { let t = log(exp(x.load_like(z)) + 1.0); z.store(convert_tile(t)); y.store(convert_tile(t)); }"):format(dtype)
      if f.class ~= "float" or f.code then
        matrix.refused(h, "log2_flush", dtype, text, "E0277", ("the trait bound `%s: FloatElement` is not satisfied"):format(dtype))
        goto continue
      end
      local kernel, digits = gpu.kernels(text).f, f.mantissa
      local x = tensor_of(1, 64, function() return math.min(8, normal() * (f.size == 1 and 1 or 4)) end):reshape({ 64 }):convert(dtype)
      local z, y = gpu.zeros({ 64 }, "bf16"), gpu.zeros({ 64 }, "f16")
      kernel(z:tiles { 64 }, y:tiles { 64 }, x):sync()
      local xs, zs, ys = x:convert("f32"):to_table(), z:to_table(), y:to_table()
      for i, v in ipairs(xs) do
        local want = math.log(1 + math.exp(v))
        local off = 2 ^ -14.9 * want + (3 + want) * 2 ^ -math.min(digits, 23)
        local function is_near(got, bits, least) return math.abs(got - want) <= off + 2 ^ -bits * (want + off) + least end
        if not h.check(is_near(zs[i], 8, 0) and is_near(ys[i], 11, 2 ^ -25), "%s: of %g it is %g and %g, not %g", dtype, v, zs[i], ys[i], want) then return end
      end
      if dtype == "f32" then matrix.covers(h, kernel, dtype, "log2_flush") else matrix.becomes(h, kernel, dtype, "log2_flush", "log") end
      ::continue::
    end
  end)

  group("terms", function()
    local x, b = tensor_of(ROWS, KEYS, normal), tensor_of(ROWS, KEYS, normal)
    local z, y = gpu.zeros({ ROWS, KEYS }, "bf16"), gpu.zeros({ ROWS, KEYS }, "bf16")
    k.terms(z:tiles { 4, KEYS }, y:tiles { 4, KEYS }, x, b, 2.5):sync()
    local xs, bs, zs, ys = x:to_table(), b:to_table(), z:to_table(), y:to_table()
    for i = 1, ROWS do
      for j = 1, KEYS do
        local u = xs[i][j] * 2.5
        local t = xs[i][j] * bs[i][j] + u
        local is_right = is_close(zs[i][j], math.exp(t - 1), math.abs(t)) and is_close(ys[i][j], math.exp(u - 2), math.abs(u))
        if not h.check(is_right, "of %g and %g: %g and %g", t, u, zs[i][j], ys[i][j]) then return end
      end
    end
  end)

  group("long", function() -- what is asked of a value is found in one walk, however many come behind it
    local lines = { "#[tile] fn long(z: &mut Tensor<bf16, {[64]}>, x: &Tensor<f32, {[-1]}>) { let mut t = tanh(x.load_like(z));" }
    for _ = 1, 6000 do lines[#lines + 1] = "t = t * 0.5 + 0.25;" end
    lines[#lines + 1] = "z.store(convert_tile(exp(t - 1.0))); }"
    local from = os.clock()
    gpu.kernels(table.concat(lines, "\n"), "long").long:inspect("ir", "sm_90a")
    h.check(os.clock() - from < 3, "6000 lines take %g s", os.clock() - from)
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
          local both = tanh(xs[i][j] / d) + tanh(xs[i][j] / 3)
          local is_right = math.abs(zs[i][j] - a) <= 2 ^ -11 * 1.001 * math.abs(a) + 2 ^ -24 and
            math.abs(ys[i][j] - q) <= 2 ^ -8 * 1.001 * math.abs(q) and math.abs(ts[i][j] - both) <= 2 ^ -10
          if not h.check(is_right, "by %g: %g gives %g, %g, %g", d, xs[i][j], zs[i][j], ys[i][j], ts[i][j]) then return end
        end
      end
    end
  end)
end
