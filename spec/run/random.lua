-- Random tile kernels with exponentials of differences, as in an online softmax: they give what the same kernels give with
-- `rounding::Full`, of which no precision is left out (docs/numerics.md, "What is rounded away").
--
--   [GPULUA_DEVICE=..] gpulua spec/run/random.lua [FIRST [COUNT]]
--
-- A kernel is its seed. Exits 1 when numbers differ by more than rounding, with the kernel.
local gpu = require "gpulua"
local first, count = math.tointeger(arg[1] or 1), math.tointeger(arg[2] or 100)

local function one(list) return list[math.random(#list)] end

local function numbers(value) return ("constant(%s, shape![4, 16])"):format(value) end
local function repeated(value) return ("(%s).broadcast(shape![4, 16])"):format(value) end
local function column(value) return repeated(("(%s).reshape(shape![4, 1])"):format(value)) end

local LEAVES = {
  "x * s", "x * 0.5", "s * x", "x / d", "tanh(x / 7.0) * 7.0", "d * tanh(x / d)", "30.0 * tanh(b) + x", "b", "x * away", "x * s + b", "x * s - b * 0.25", "(x - b) * s", "x", "absf(x)", "x * b", "row",
  "b.reshape(shape![16, 4]).reshape(shape![4, 16]) * 2.0", "scan_sum(x, 1, reverse::Forward, 0.0f32)", repeated "away",
  repeated "n as f32" .. " * 0.25", column "reduce_sum(x, 1)", column "reduce_min(x, 1)", repeated "reduce_sum(b * s, 0).reshape(shape![1, 16])",
  numbers "-1.0e30f32", numbers "0.5f32", numbers "f32::NEG_INFINITY", numbers "-3.4e38f32", numbers "-7.0f32",
}
local FORMS = {
  "(%s + %s)", "(%s - %s)", "max_tile(%s, %s)", "min_tile(%s, %s)", "select(seen, %s, %s)", "(if n > 2 { %s } else { %s })",
  "(if j %% 2 == 0 { %s } else { %s })", "(-(%s - %s))",
}
local POWERS = {
  "exp(t - most_row)", "exp(t - most_row)", "exp(-(most_row - t))", "exp(t - most_row) * 0.5",
  "select(seen, exp(t - most_row), constant(0.0f32, shape![4, 16]))", "exp(t - most_row) + exp(max_tile(x, b) * s - 3.0)",
  "exp2((most_row - t) * -1.442695, ftz::Enabled)", "exp2((t - most_row) * 1.442695, ftz::Enabled)",
}
local LOOPS = {
  "for j in 0..n {", "let mut next_j = 0; while next_j < n { let j = next_j; next_j += 1;",
  "let mut next_j = 0; loop { if next_j >= n { break; } let j = next_j; next_j += 1;",
}

local function scores(depth)
  if depth == 0 or math.random() < 0.25 then return one(LEAVES) end
  return one(FORMS):format(scores(depth - 1), scores(depth - 1))
end

local KERNEL = [[
#[tile]
fn near(z: &mut Tensor<bf16, {[4, 16]}>, y: &mut Tensor<f32, {[4, 1]}>, x: &Tensor<f32, {[-1, -1]}>, b: &Tensor<f32, {[-1, -1]}>, s: f32, d: f32, away: f32, n: i32) {
    let (px, pb) = (x.partition(shape![4, 16]), b.partition(shape![4, 16]));
    let i = program_id(0);
    let row = b.load_tile(shape![4, 1], [i, 0]).broadcast(shape![4, 16]);
    let mut most = constant($start, shape![4, 1]);
    let mut last = most;
    let mut sum = constant(0.0f32, shape![4, 1]);
    let mut acc = constant(0.0f32, shape![4, 16]);
    $loop
        let (x, b) = (px.load([i, j % 2]), pb.load([i, j % 2]));
        let seen = gt_tile(b, constant(0.0f32, shape![4, 16]));
        let t = $scores;
        let next = max_tile(most, reduce_max(t, 1).reshape(shape![4, 1]));
        let most_row = next.broadcast(shape![4, 16]);
        let weights = $power;
        let shrink = exp(most - next);
        sum = sum * shrink + reduce_sum(weights, 1).reshape(shape![4, 1]);
        let rounded: Tile<bf16, {[4, 16]}> = convert_tile(weights);
        acc = acc * shrink.broadcast(shape![4, 16]) + convert_tile::<f32>(rounded) * x;
        most = next;
        $more
    }
    z.store(convert_tile(acc / sum.broadcast(shape![4, 16])));
    y.store($out);
}
]]

local function kernel()
  local words = {
    start = one { "-1.0e30f32", "f32::NEG_INFINITY", "-100.0f32", "0.0f32" }, loop = one(LOOPS), scores = scores(3), power = one(POWERS),
    more = one { "", "", "", "acc = acc + t;", "last = next;", "if n > 5 { most = most - 1.0; }" }, out = one { "sum", "sum", "last", "most + log(sum)" },
  }
  return (KERNEL:gsub("%$(%w+)", words))
end

-- Normal numbers.
local function normal(size)
  local t = {}
  for i = 1, 8 do
    t[i] = {}
    for j = 1, 32 do t[i][j] = size * math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random()) end
  end
  return gpu.from_table(t)
end

local function is_close(got, want, relative, least)
  return got == want or (got ~= got and want ~= want) or math.abs(got - want) <= relative * math.max(math.abs(want), least)
end

local function differs(a, b, relative, least)
  for i, row in ipairs(a:to_table()) do
    local wanted = b:to_table()[i]
    for j, got in ipairs(row) do
      if not is_close(got, wanted[j], relative, least) then return ("[%d, %d] is %.9g, not %.9g"):format(i - 1, j - 1, got, wanted[j]) end
    end
  end
end

local wrong = 0
for seed = first, first + count - 1 do
  math.randomseed(seed)
  local near = kernel()
  local full = near:gsub("fn near%(", "fn full(")
  for _, name in ipairs { "exp", "tanh" } do
    full = full:gsub(name .. "(%b())", function(x) return name .. "(" .. x:sub(2, -2) .. ", rounding::Full)" end)
  end
  local k = gpu.kernels(near .. full, "random")
  local x, b = normal(one { 1, 1, 5, 0.01 }), normal(one { 1, 3 })
  local s, d, away, n = one { 0.125, 1, -0.5, 0 }, one { 3, -0.25, 8 }, one { -1e30, -3.4028234663852886e38, -1e4, 0, -5 }, math.random(0, 7)
  local z, y = {}, {}
  for _, name in ipairs { "near", "full" } do
    z[name], y[name] = gpu.zeros({ 8, 16 }, "bf16"), gpu.zeros { 8, 1 }
    k[name](z[name]:tiles { 4, 16 }, y[name]:tiles { 4, 1 }, x, b, s, d, away, n):sync()
  end
  local what = differs(z.near, z.full, 2 ^ -6, 0.5) or differs(y.near, y.full, 2 ^ -8, 1e-30)
  if what then
    wrong = wrong + 1
    print(("seed %d: %s, with s %g, d %g, away %g, n %d"):format(seed, what, s, d, away, n))
    print(near)
  end
end
print(("%d kernels, %d wrong"):format(count, wrong))
os.exit(wrong == 0 and 0 or 1)
