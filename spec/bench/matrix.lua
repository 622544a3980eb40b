-- What the rows of matrix products share: random matrices that are rotated, and the check of a whole
-- product. A product C is right when C v = A (B v) in f64 for a vector v of signs, up to the rounding of
-- C's elements, and when samples of its elements agree with sums in Lua's doubles.
local bench = require "bench"
local gpu = require "gpulua"

local matrix = {}

local K = gpu.kernels([[
  #[tile]
  fn times<T: ElementType, const B: i32>(y: &mut Tensor<f64, {[B]}>, m: &Tensor<T, {[-1, -1]}>, x: &Tensor<f64, {[-1]}>) {
      let i = program_id(0);
      let (pm, px) = (m.partition(shape![B, 64]), x.partition(shape![64]));
      let mut sum = constant(0.0f64, shape![B]);
      for l in 0..num_tiles(&pm, 1) {
          let t: Tile<f64, {[B, 64]}> = convert_tile(pm.load([i, l]));
          sum += reduce_sum(t * px.load([l]).reshape(shape![1, 64]).broadcast(shape![B, 64]), 1);
      }
      y.store(sum);
  }
  #[tile]
  fn times_transposed<T: ElementType, const B: i32>(y: &mut Tensor<f64, {[B]}>, m: &Tensor<T, {[-1, -1]}>, x: &Tensor<f64, {[-1]}>) {
      let i = program_id(0);
      let (pm, px) = (m.partition(shape![64, B]), x.partition(shape![64]));
      let mut sum = constant(0.0f64, shape![B]);
      for l in 0..num_tiles(&pm, 0) {
          let t: Tile<f64, {[64, B]}> = convert_tile(pm.load([l, i]));
          sum += reduce_sum(t * px.load([l]).reshape(shape![64, 1]).broadcast(shape![64, B]), 0);
      }
      y.store(sum);
  }
  #[tile]
  fn squares<T: ElementType, const B: i32>(y: &mut Tensor<f64, {[B]}>, m: &Tensor<T, {[-1, -1]}>) {
      let i = program_id(0);
      let pm = m.partition(shape![B, 64]);
      let mut sum = constant(0.0f64, shape![B]);
      for l in 0..num_tiles(&pm, 1) {
          let t: Tile<f64, {[B, 64]}> = convert_tile(pm.load([i, l]));
          sum += reduce_sum(t * t, 1);
      }
      y.store(sum);
  }
]], "matrix.lua")

local function signs(n)
  local values = {}
  for i = 1, n do values[i] = math.random(0, 1) * 2 - 1 end
  return gpu.from_table(values, "f64")
end

-- `count` normal matrices of one shape, each of its own values.
function matrix.normal(count, shape, dtype)
  local made = {}
  for i = 1, count do
    -- A host cannot draw gigabytes of numbers: rows of the first are moved along for the others.
    if i == 1 then
      made[i] = bench.normal(shape, 4194301, dtype)
    else
      local turn = i * 37 % shape[1]
      made[i] = gpu.empty(shape, dtype)
      local rest = {}
      for axis = 2, #shape do rest[axis - 1] = { 1, shape[axis] } end
      made[i]:slice({ 1, shape[1] - turn }, table.unpack(rest)):copy_from(
        made[1]:slice({ turn + 1, shape[1] }, table.unpack(rest)))
      if turn > 0 then
        made[i]:slice({ shape[1] - turn + 1, shape[1] }, table.unpack(rest)):copy_from(
          made[1]:slice({ 1, turn }, table.unpack(rest)))
      end
    end
  end
  return made
end

local function numbers(t) return t:reshape { t.numel }:to_table() end

-- Row i and column j, as numbers.
local function line(m, is_column, i)
  local rows, columns = table.unpack(m.shape)
  if is_column then return numbers(m:slice({ 1, rows }, { i, i }):copy()) end
  return numbers(m:slice({ i, i }, { 1, columns }))
end

local function check_element(c, a, b, transposed, i, j, tolerance, finish)
  local x, y = line(a, transposed.a, i), line(b, not transposed.b, j)
  local want, size = 0, 0
  for l = 1, #x do
    want = want + x[l] * y[l]
    size = size + (x[l] * y[l]) ^ 2
  end
  if finish then want = finish(want, j) end
  local got = c:slice({ i, i }, { j, j }):copy():to_table()[1][1]
  if not (math.abs(got - want) <= tolerance * (math.abs(want) + size ^ 0.5)) then
    error(("element %d, %d is %.9g, the float64 reference gives %.9g"):format(i, j, got, want), 0)
  end
end

-- Raises where a sampled element of c is not finish(sum, column), `finish` being what comes after the sum.
function matrix.check_samples(c, a, b, transposed, tolerance, finish)
  local m, n = table.unpack(c.shape)
  for sample = 1, 64 do
    local i = sample == 1 and 1 or sample == 2 and m or math.random(m)
    local j = sample == 1 and 1 or sample == 2 and n or math.random(n)
    check_element(c, a, b, transposed, i, j, tolerance, finish)
  end
end

-- Raises what is wrong with the product c of a and b, either of which may be `transposed`; `tolerance`
-- is the relative rounding of an element.
function matrix.check(c, a, b, transposed, tolerance)
  local m, n = table.unpack(c.shape)
  local v = signs(n)
  local y, want = gpu.empty({ a.shape[transposed.a and 1 or 2] }, "f64"), gpu.empty({ m }, "f64")
  local got, norm = gpu.empty({ m }, "f64"), gpu.empty({ m }, "f64")
  local function times(is_transposed, out, left, right)
    K[is_transposed and "times_transposed" or "times"](out:tiles { 16 }, left, right):sync()
  end
  times(transposed.b, y, b, v)
  times(transposed.a, want, a, y)
  K.times(got:tiles { 16 }, c, v):sync()
  K.squares(norm:tiles { 16 }, c):sync()
  want, got, norm = want:to_table(), got:to_table(), norm:to_table()
  for i = 1, m do
    if not (math.abs(got[i] - want[i]) <= 4 * tolerance * norm[i] ^ 0.5) then
      error(("row %d times a vector is %.9g, the float64 reference gives %.9g"):format(i, got[i], want[i]), 0)
    end
  end
  matrix.check_samples(c, a, b, transposed, tolerance)
end

return matrix
