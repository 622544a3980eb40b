-- Tiles whose extents are no powers of two, against the interpreter: folds, scans, turned axes, carried tiles, accesses
-- through addresses and what takes an axis apart, at whole and ragged places of tensors that vectors may move and of others.
-- Values are small whole numbers, so that sums are exact in any order.
local gpu = require "gpulua"

local KERNELS = [[
#[tile]
fn folds<E: ElementType, const R: i32, const N: i32>(z: &mut Tensor<E, {[R, N]}>, sums: &mut Tensor<E, {[R, 1]}>, x: &Tensor<E, {[-1, -1]}>, first: E, last: E) {
    let t = x.load_like(z);
    let most = reduce(t, 1, last, |a, b| max(a, b)).reshape(shape![R, 1]);
    let least = reduce(t, 1, first, |a, b| min(a, b)).reshape(shape![R, 1]);
    let below = reduce_sum(t, 0).reshape(shape![1, N]).broadcast(shape![R, N]);
    z.store(below - t + most.broadcast(shape![R, N]) - least.broadcast(shape![R, N]));
    sums.store(reduce_sum(t, 1).reshape(shape![R, 1]));
}
#[tile]
fn scans<const R: i32, const N: i32>(z: &mut Tensor<i32, {[R, N]}>, y: &mut Tensor<i32, {[R, N]}>, w: &mut Tensor<i32, {[R, N]}>, x: &Tensor<i32, {[-1, -1]}>) {
    let t = x.load_like(z);
    let from_left = scan_sum(t, 1, reverse::Forward, 0);
    let total: Tile<i32, {[R]}> = reduce_sum(t, 1);
    z.store(from_left + total.reshape(shape![R, 1]).broadcast(shape![R, N]));
    y.store(scan(t, 1, reverse::Reverse, -1000, |a, b| max(a, b)));
    w.store(scan_sum(t, 0, reverse::Reverse, 0));
}
#[tile]
fn turned<const R: i32, const N: i32>(z: &mut Tensor<f32, {[R, N]}>, x: &Tensor<f32, {[-1, -1]}>) {
    let (i, j, _) = get_tile_block_id();
    let t = x.partition(shape![N, R]).load([j, i]);
    let column: Tile<f32, {[N]}> = convert_tile(iota::<i32>(shape![N]));
    z.store(t.transpose() * 2.0 + column.reshape(shape![1, N]).broadcast(shape![R, N]));
}
#[tile]
fn places<const R: i32, const N: i32>(z: &mut Tensor<i32, {[R]}>, x: &Tensor<i32, {[-1, N]}>) {
    let t = x.load_tile(shape![R, N], [program_id(0), 0]);
    let column = iota(shape![N]).reshape(shape![1, N]).broadcast(shape![R, N]);
    let most = reduce_max(t, 1).reshape(shape![R, 1]).broadcast(shape![R, N]);
    z.store(reduce_min(select(t == most, column, constant(N, shape![R, N])), 1));
}
#[tile]
fn carried<const N: i32>(z: &mut Tensor<i32, {[N]}>, y: &mut Tensor<i32, {[N]}>, x: &Tensor<i32, {[-1]}>, turns: i32) {
    let t = x.load_like(z);
    let mut sum = constant(0, shape![N]);
    let mut other = t;
    for i in 0..turns {
        sum += t * i;
        other = if i % 2 == 0 { sum - t } else { other + t };
    }
    let mut i = 0;
    loop {
        if i > turns { break; }
        other = other + reduce_max(sum, 0).reshape(shape![1]).broadcast(shape![N]);
        i += 1;
    }
    z.store(sum);
    y.store(other);
}
#[tile]
fn rows<const R: i32, const N: i32, const B: i32>(z: &mut Tensor<f16, {[R, N]}>, x: &Tensor<f16, {[-1, -1]}>) {
    let mut pz = z.partition_mut(shape![1, B]);
    for r in 0..num_tiles(&pz, 0) {
        for j in 0..num_tiles(&pz, 1) {
            let t = x.load_tile(shape![1, B], [program_id(0) * R + r, program_id(1) * (N / B) + j]);
            let sum = reduce_sum(t, 1).reshape(shape![1, 1]).broadcast(shape![1, B]);
            pz.store(t + sum, [r, j]);
        }
    }
}
#[tile]
unsafe fn addressed<const N: i32>(z: &mut Tensor<i32, {[N]}>, to: *mut i32, seen: *mut i32, from: *const i32) {
    let lane = iota::<i32>(shape![N]);
    let first = pointer_to_tile(from).reshape(shape![1]).broadcast(shape![N]);
    let (t, _) = load_ptr_tko(first.offset_tile(N - 1 - lane), ordering::Weak, None::<scope::TileBlock>, Some(lane % 3 != 0), Some(7), None, Latency::<0>);
    z.store(t);
    let places = pointer_to_tile(to).reshape(shape![1]).broadcast(shape![N]);
    store_ptr_tko(places.offset_tile(lane * 2), t, ordering::Weak, None::<scope::TileBlock>, None, None, Latency::<0>);
    let bins = pointer_to_tile(seen).reshape(shape![1]).broadcast(shape![N]);
    let _ = atomic_rmw_tko(bins.offset_tile(lane % 5), t, atomic::Add, ordering::Relaxed, scope::Device, None, None);
    let _ = atomic_cas_tko(bins.offset_tile(lane + 5), constant(0, shape![N]), t + 1, ordering::Relaxed, scope::Device, None, None);
}
#[tile]
fn apart<const N: i32>(z: &mut Tensor<i32, {[2, N]}>, x: &Tensor<i32, {[-1, -1]}>, by: &Tensor<i32, {[N]}>) {
    let t = x.load_like(z);
    let divisor = by.load_tile(shape![N], [0]).reshape(shape![1, N]).broadcast(shape![2, N]);
    let flat = (t / divisor + t % divisor).reshape(shape![2 * N]);
    let top: Tile<i32, {[1, N]}> = extract(t, [scalar_to_tile(0), scalar_to_tile(0)]);
    let low: Tile<i32, {[1, N]}> = extract(t, [scalar_to_tile(1), scalar_to_tile(0)]);
    let exchanged: Tile<i32, {[2, N]}> = cat(low, top, 0);
    z.store(flat.reshape(shape![2, N]) + exchanged);
}
// Fours taken apart and joined in another order; halves of rows and of columns exchanged.
#[tile]
fn parts<E: ElementType, const R: i32, const N: i32>(z: &mut Tensor<E, {[R, 4 * N]}>, y: &mut Tensor<E, {[R, 4 * N]}>, x: &Tensor<E, {[-1, -1]}>, last: i32) {
    let t = x.load_like(z);
    let fours = t.reshape(shape![R, N, 4]);
    let zero = scalar_to_tile(0);
    let a: Tile<E, {[R, N, 1]}> = extract(fours, [zero, zero, zero]);
    let b: Tile<E, {[R, N, 1]}> = extract(fours, [zero, zero, scalar_to_tile(1)]);
    let cd: Tile<E, {[R, N, 2]}> = extract(fours, [zero, zero, scalar_to_tile(1)]);
    let d: Tile<E, {[R, N, 1]}> = extract(fours, [zero, zero, scalar_to_tile(last)]);
    let ba: Tile<E, {[R, N, 2]}> = cat(b, a, 2);
    let moved: Tile<E, {[R, N, 4]}> = cat(cd, ba + d.broadcast(shape![R, N, 2]), 2);
    z.store(moved.reshape(shape![R, 4 * N]));
    let left: Tile<E, {[R, 2 * N]}> = extract(t, [zero, zero]);
    let right: Tile<E, {[R, 2 * N]}> = extract(t, [zero, scalar_to_tile(1)]);
    let exchanged: Tile<E, {[R, 4 * N]}> = cat(right, left, 1);
    let both: Tile<E, {[2 * R, 4 * N]}> = cat(exchanged, t, 0);
    let top: Tile<E, {[R, 4 * N]}> = extract(both, [zero, zero]);
    let low: Tile<E, {[R, 4 * N]}> = extract(both, [scalar_to_tile(1), zero]);
    y.store(top - low);
}
// Combinations with branches.
#[tile]
fn chosen<E: ElementType, const R: i32, const N: i32>(z: &mut Tensor<E, {[R, N]}>, y: &mut Tensor<E, {[R, 3]}>, x: &Tensor<E, {[-1, -1]}>, first: E) {
    let t = x.load_like(z);
    let most: Tile<E, {[R]}> = reduce(t, 1, first, |a, b| if a > b { a } else { b });
    let least: Tile<E, {[R]}> = reduce(t, 1, -first, |a, b| { let mut m = b; if a <= m { m = a; } m });
    let mid: Tile<E, {[R]}> = reduce(t, 1, first, |a, b| if a > b && a < E::ONE { a } else if b < E::ONE { b } else { a });
    let column: Tile<E, {[R, 1]}> = most.reshape(shape![R, 1]);
    let pair: Tile<E, {[R, 2]}> = cat(column, least.reshape(shape![R, 1]), 1);
    let mut py = y.partition_mut(shape![R, 1]);
    py.store(column, [0, 0]);
    py.store(extract(pair, [scalar_to_tile(0), scalar_to_tile(1)]), [0, 1]);
    py.store(mid.reshape(shape![R, 1]), [0, 2]);
    z.store(scan(t, 1, reverse::Forward, first, |a, b| if b < a { a } else { b }));
}
// A tensor that the kernel makes, of rows that begin anywhere.
#[tile]
unsafe fn made<const N: i32>(to: *mut f16, from: *mut f16, at: i32, rows: i32, columns: i32, stride: i32) {
    let shape: Shape<{[-1, -1]}> = Shape::<{[-1, -1]}> { dims: &[rows, columns] };
    let strides: Array<{[-1, 1]}> = Array::<{[-1, 1]}> { dims: &[stride] };
    let x: Tensor<f16, {[-1, -1]}> = make_tensor_view(pointer_to_tile(from).offset(at), shape, strides, new_token_unordered());
    let z: Tensor<f16, {[-1, -1]}> = make_tensor_view(pointer_to_tile(to).offset(at), shape, strides, new_token_unordered());
    let place = [program_id(0), program_id(1)];
    let t = x.partition(shape![2, N]).load(place);
    z.partition_full_mut(shape![2, N]).store(t + reduce_sum(t, 1).reshape(shape![2, 1]).broadcast(shape![2, N]), place);
}
#[tile]
fn padded<const N: i32>(z: &mut Tensor<f32, {[1]}>, x: &Tensor<f32, {[-1]}>) {
    let p = make_partition_view(x, shape![N], padding::NegInf, dim_map::Identity, new_token_unordered());
    z.store(reduce_max(p.load([program_id(0)]), 0).reshape(shape![1]));
}
]]

local function whole(n, dtype)
  local t = {}
  for i = 1, n do t[i] = math.random(-5, 5) end
  if dtype == "bool" or dtype:sub(1, 1) == "u" then for i = 1, n do t[i] = math.abs(t[i]) end end
  return gpu.from_table(t, dtype)
end

local WIDTHS = { { 1, 200 }, { 3, 1000 }, { 5, 96 }, { 1, 1001 }, { 12, 40 }, { 2, 768 }, { 7, 129 }, { 1, 3000 } }

local CASES = {}

function CASES.folds(h, k)
  for i, s in ipairs(WIDTHS) do
    local R, N = s[1], s[2]
    local dtype = ({ "f32", "bf16", "i32", "f64", "i8", "f16", "u64", "f32" })[i]
    local rows, columns = 2 * R + (i % 2), 2 * N - (i % 3) * 8
    local z, sums, x = gpu.zeros({ rows, columns }, dtype), gpu.zeros({ rows, 2 }, dtype), whole(rows * columns, dtype):reshape { rows, columns }
    h.both(("folds of %d x %d %s"):format(R, N, dtype), { z, sums, x }, function(a, b, c)
      k.folds(a:tiles { R, N }, b:tiles { R, 1 }, c, 100, dtype == "u64" and 0 or -100):sync()
    end)
  end
end

function CASES.scans(h, k)
  for i, s in ipairs(WIDTHS) do
    local R, N = s[1], s[2]
    local rows, columns = 2 * R, 2 * N - (i % 2) * 3
    local function t() return gpu.zeros({ rows, columns }, "i32") end
    h.both(("scans of %d x %d"):format(R, N), { t(), t(), t(), whole(rows * columns, "i32"):reshape { rows, columns } }, function(a, b, c, d)
      k.scans(a:tiles { R, N }, b:tiles { R, N }, c:tiles { R, N }, d):sync()
    end)
  end
end

function CASES.turned(h, k)
  for _, s in ipairs(WIDTHS) do
    local R, N = s[1], s[2]
    local z, x = gpu.zeros { 2 * R, 2 * N }, whole(4 * R * N, "f32"):reshape { 2 * N, 2 * R }
    h.both(("turned %d x %d"):format(R, N), { z, x }, function(a, b) k.turned(a:tiles { R, N }, b):sync() end)
  end
end

function CASES.places(h, k)
  for _, s in ipairs(WIDTHS) do
    local R, N = s[1], s[2]
    local z, x = gpu.zeros({ 2 * R + 1 }, "i32"), whole((2 * R + 1) * N, "i32"):reshape { 2 * R + 1, N }
    h.both(("places in %d x %d"):format(R, N), { z, x }, function(a, b) k.places(a:tiles { R }, b):sync() end)
  end
end

function CASES.carried(h, k)
  for _, N in ipairs { 200, 1000, 1001, 1536, 3000 } do
    for _, n in ipairs { 2 * N, 2 * N - 24 } do
      h.both(("carried %d of %d"):format(N, n), { gpu.zeros({ n }, "i32"), gpu.zeros({ n }, "i32"), whole(n, "i32") }, function(a, b, c)
        k.carried(a:tiles { N }, b:tiles { N }, c, 5):sync()
      end)
    end
  end
end

-- The last block's rows and columns are fewer.
function CASES.rows(h, k)
  for _, s in ipairs { { 4, 1000, 200 }, { 3, 384, 192 }, { 2, 3000, 1000 } } do
    local R, N, B = table.unpack(s)
    local rows, columns = 2 * R - 1, 2 * N - 16
    local z, x = gpu.zeros({ rows, columns }, "f16"), whole(rows * columns, "f16"):reshape { rows, columns }
    h.both(("rows of %d x %d"):format(R, N), { z, x }, function(a, b) k.rows:with { B = B }(a:tiles { R, N }, b):sync() end)
  end
end

function CASES.addressed(h, k)
  for _, N in ipairs { 200, 1000, 1001 } do
    h.both(("addresses of %d"):format(N), { gpu.zeros({ N }, "i32"), gpu.zeros({ 2 * N + 2000 }, "i32"), gpu.zeros({ N + 2000 }, "i32"), whole(N, "i32") },
      function(a, b, c, d) k.addressed(a:tiles { N }, b, c, d):sync() end)
  end
end

function CASES.apart(h, k)
  for _, N in ipairs { 130, 200, 264 } do
    local by = {}
    for i = 1, N do by[i] = 1 + i % 4 end
    h.both(("apart %d"):format(N), { gpu.zeros({ 4, N }, "i32"), whole(4 * N, "i32"):reshape { 4, N }, gpu.from_table(by, "i32") },
      function(a, b, c) k.apart(a:tiles { 2, N }, b, c):sync() end)
  end
end

function CASES.parts(h, k)
  for i, s in ipairs { { 1, 256 }, { 4, 8 }, { 3, 24 }, { 12, 10 }, { 2, 96 }, { 8, 128 }, { 1, 3 }, { 6, 50 } } do
    local R, N = s[1], s[2]
    local dtype = ({ "bf16", "i32", "f32", "i8", "f64", "u16", "f16", "i64" })[i]
    local rows, columns = 2 * R, 8 * N - (i % 2) * 2
    local z, y, x = gpu.zeros({ rows, columns }, dtype), gpu.zeros({ rows, columns }, dtype), whole(rows * columns, dtype):reshape { rows, columns }
    h.both(("parts of %d x %d %s"):format(R, 4 * N, dtype), { z, y, x }, function(a, b, c)
      k.parts:with { N = N }(a:tiles { R, 4 * N }, b:tiles { R, 4 * N }, c, 3):sync()
    end)
  end
end

function CASES.chosen(h, k)
  for i, s in ipairs { { 1, 256 }, { 4, 96 }, { 3, 1000 }, { 2, 1001 }, { 16, 16 } } do
    local R, N = s[1], s[2]
    local dtype = ({ "f32", "i32", "bf16", "f64", "i8" })[i]
    local rows = 2 * R
    local z, y, x = gpu.zeros({ rows, N }, dtype), gpu.zeros({ rows, 3 }, dtype), whole(rows * N, dtype):reshape { rows, N }
    h.both(("chosen of %d x %d %s"):format(R, N, dtype), { z, y, x }, function(a, b, c)
      k.chosen(a:tiles { R, N }, b:tiles { R, 3 }, c, -100):sync()
    end)
  end
end

function CASES.made(h, k)
  for _, s in ipairs { { 256, 0, 0 }, { 256, 8, 8 }, { 256, 1, 0 }, { 1000, 0, 1 }, { 1000, 16, 0 }, { 1000, 3, 5 }, { 1001, 8, 7 } } do
    local N, at, gap = table.unpack(s)
    local rows, columns = 5, 2 * N - 8
    local size = at + rows * (columns + gap)
    h.both(("made of %d at %d, %d further"):format(N, at, gap), { gpu.zeros({ size }, "f16"), whole(size, "f16") }, function(a, b)
      k.made:with { N = N, grid = { 3, 2 } }(a, b, at, rows, columns, columns + gap):sync()
    end)
  end
end

function CASES.padded(h, k)
  for _, N in ipairs { 200, 1000, 1001 } do
    local x = whole(3 * N - 50, "f32")
    x:slice { 2 * N + 1, 3 * N - 50 }:fill(-9)
    h.both(("padded %d"):format(N), { gpu.zeros { 3 }, x }, function(a, b) k.padded:with { N = N }(a:tiles { 1 }, b):sync() end)
  end
end

return function(h)
  local k
  for _, name in ipairs { "folds", "scans", "turned", "places", "carried", "rows", "addressed", "apart", "parts", "chosen", "made", "padded" } do
    h.group("widths." .. name, function()
      math.randomseed(h.seed_of("widths", name))
      k = k or gpu.kernels(KERNELS, "cases_widths")
      CASES[name](h, k)
    end)
  end
end
