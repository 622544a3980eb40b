-- Products whose second operand the kernel computes of weights of few bits, against the interpreter. Values are small whole
-- numbers, so that sums are exact in any order.
local gpu = require "gpulua"

local KERNELS = [[
#[tile]
fn eight<const M: i32, const N: i32, const K: i32>(z: &mut Tensor<f32, {[M, N]}>, x: &Tensor<bf16, {[-1, -1]}>, w: &Tensor<i8, {[-1, -1]}>, bias: &Tensor<f32, {[-1]}>) {
    let (i, j, _) = get_tile_block_id();
    let (px, pw) = (x.partition(shape![M, K]), w.partition(shape![N, K]));
    let mut sums = constant(2.0f32, shape![M, N]);
    for l in 0..num_tiles(&px, 1) {
        let t: Tile<bf16, {[N, K]}> = convert_tile(pw.load([j, l]));
        sums = mma(px.load([i, l]), t.transpose(), sums);
    }
    let column = bias.load_tile(shape![N], [j]).reshape(shape![1, N]).broadcast(shape![M, N]);
    let row: Tile<f32, {[M]}> = reduce_max(sums, 1);
    z.store(sums + column - row.reshape(shape![M, 1]).broadcast(shape![M, N]));
}
// The weights lie as they are multiplied; beside their product one of what is loaded.
#[tile]
fn two<const M: i32, const N: i32, const K: i32>(z: &mut Tensor<bf16, {[M, N]}>, y: &mut Tensor<bf16, {[M, N]}>, x: &Tensor<bf16, {[-1, -1]}>, w: &Tensor<i8, {[-1, -1]}>, v: &Tensor<bf16, {[-1, -1]}>) {
    let (i, j, _) = get_tile_block_id();
    let (px, pw, pv) = (x.partition(shape![M, K]), w.partition(shape![K, N]), v.partition(shape![K, N]));
    let mut sums = constant(0.0f32, shape![M, N]);
    let mut other = constant(0.0f32, shape![M, N]);
    for l in 0..num_tiles(&px, 1) {
        let t = px.load([i, l]);
        sums = mma(t, convert_tile::<bf16>(pw.load([l, j]) + 1), sums);
        other = mma(t, pv.load([l, j]), other);
    }
    z.store(convert_tile(sums));
    y.store(convert_tile(other - sums));
}
#[tile]
fn four<const M: i32, const N: i32, const K: i32>(z: &mut Tensor<f32, {[M, N]}>, x: &Tensor<f16, {[-1, -1]}>, w: &Tensor<u8, {[-1, -1]}>, most: i32) {
    let (i, j, _) = get_tile_block_id();
    let (px, pw) = (x.partition(shape![M, 2 * K]), w.partition(shape![N, K]));
    let mut sums = constant(0.0f32, shape![M, N]);
    for l in 0..num_tiles(&px, 1) {
        if l >= most { break; }
        let bytes = pw.load([j, l]);
        let low: Tile<f16, {[N, K]}> = convert_tile(bytes & 15);
        let high: Tile<f16, {[N, K]}> = convert_tile(bytes >> 4);
        let both: Tile<f16, {[N, K, 2]}> = cat(low.reshape(shape![N, K, 1]), high.reshape(shape![N, K, 1]), 2);
        sums = mma(px.load([i, l]), both.reshape(shape![N, 2 * K]).transpose(), sums);
    }
    z.store(sums);
}
]]

local function whole(rows, columns, least, most, dtype)
  local t = {}
  for i = 1, rows * columns do t[i] = math.random(least, most) end
  return gpu.from_table(t, dtype):reshape { rows, columns }
end

local SHAPES = { { 128, 128, 128, 64, 128, 64 }, { 100, 72, 80, 64, 64, 32 }, { 64, 256, 96, 64, 128, 32 }, { 40, 40, 48, 64, 32, 16 } }

return function(h)
  local k
  for _, name in ipairs { "eight", "two", "four" } do
    h.group("weights." .. name, function()
      math.randomseed(h.seed_of("weights", name))
      k = k or gpu.kernels(KERNELS, "cases_weights")
      for _, s in ipairs(SHAPES) do
        local rows, columns, depth, M, N, K = table.unpack(s)
        local what = ("%s: %d x %d x %d"):format(name, rows, columns, depth)
        if name == "eight" then
          local bias = whole(1, columns, -9, 9, "f32"):reshape { columns }
          h.both(what, { gpu.zeros { rows, columns }, whole(rows, depth, -2, 2, "bf16"), whole(columns, depth, -5, 5, "i8"), bias }, function(z, x, w, b)
            k.eight:with { K = K }(z:tiles { M, N }, x, w, b):sync()
          end)
        elseif name == "two" then
          local function out() return gpu.zeros({ rows, columns }, "bf16") end
          h.both(what, { out(), out(), whole(rows, depth, -1, 1, "bf16"), whole(depth, columns, -1, 0, "i8"), whole(depth, columns, -1, 1, "bf16") },
            function(z, y, x, w, v) k.two:with { K = K }(z:tiles { M, N }, y:tiles { M, N }, x, w, v):sync() end)
        else
          for _, most in ipairs { 1, 100 } do
            h.both(what, { gpu.zeros { rows, columns }, whole(rows, depth, -2, 2, "f16"), whole(columns, depth // 2, 0, 255, "u8") }, function(z, x, w)
              k.four:with { K = K // 2 }(z:tiles { M, N }, x, w, most):sync()
            end)
          end
        end
      end
    end)
  end
end
