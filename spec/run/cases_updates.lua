-- Updates whose old values nobody reads: of few places by many elements, in loops and beside other work, and sums of
-- runs of elements; gathers and scatters of runs, aligned or not. On the device and by the interpreter.
local gpu = require "gpulua"

local BINS = [[
fn places<const B: i32>(to: *mut $T) -> PointerTile<*mut $T, {[B]}> { pointer_to_tile(to).reshape(shape![1]).broadcast(shape![B]) }
#[tile]
unsafe fn one<const B: i32>(bins: *mut $T, at: &Tensor<i32, {[-1]}>, x: &Tensor<$T, {[-1]}>, n: i32) {
    let lane = iota(shape![B]) + program_id(0) * B;
    let p = places::<B>(bins).offset_tile(at.load_tile(shape![B], [program_id(0)]));
    let _ = atomic_rmw_tko(p, x.load_tile(shape![B], [program_id(0)]), atomic::$mode, ordering::Relaxed, scope::Device, Some(lt_tile(lane, n.broadcast(shape![B]))), None);
}
// Some turns leave the loop, go on at once, or update nothing.
#[tile]
unsafe fn turns<const B: i32>(bins: *mut $T, at: &Tensor<i32, {[-1]}>, x: &Tensor<$T, {[-1]}>, last: i32) {
    let pa = at.partition(shape![B]);
    let px = x.partition(shape![B]);
    let mut i = program_id(0);
    loop {
        if i >= last { break; }
        let k = i;
        i = i + num_programs(0);
        if k % 5 == 3 { continue; }
        if k % 2 == 0 {
            for _ in 0..k % 3 {
                let _ = atomic_rmw_tko(places::<B>(bins).offset_tile(pa.load([k])), px.load([k]), atomic::$mode, ordering::Relaxed, scope::System, None, None);
            }
        }
    }
}
]]

-- Loops in which an update that came later would be seen: by another one, by a load, by what follows the loop at once.
local SEEN = [[
#[tile]
unsafe fn two<const B: i32>(bins: *mut i32, at: &Tensor<i32, {[-1]}>) {
    let pa = at.partition(shape![B]);
    let p = pointer_to_tile(bins).reshape(shape![1]).broadcast(shape![B]);
    for i in 0..num_tiles(&pa, 0) {
        let t = pa.load([i]);
        let _ = atomic_rmw_tko(p.offset_tile(t % 16), t, atomic::Add, ordering::Relaxed, scope::Device, None, None);
        let _ = atomic_rmw_tko(p.offset_tile(t % 16), t, atomic::Max, ordering::Relaxed, scope::Device, None, None);
    }
}
// The places are of one array or another.
#[tile]
unsafe fn chosen<const B: i32>(bins: *mut i32, other: *mut i32, at: &Tensor<i32, {[-1]}>) {
    let pa = at.partition(shape![B]);
    for i in 0..num_tiles(&pa, 0) {
        let p = if i % 3 == 0 { pointer_to_tile(bins) } else { pointer_to_tile(other).offset(i) };
        let places = p.reshape(shape![1]).broadcast(shape![B]);
        let _ = atomic_rmw_tko(places.offset_tile(pa.load([i]) % 16), constant(1, shape![B]), atomic::Add, ordering::Relaxed, scope::Device, None, None);
        let (t, _) = load_ptr_tko(places.offset_tile(iota(shape![B]) % 8), ordering::Weak, None::<scope::TileBlock>, None, None, None, Latency::<0>);
        store_ptr_tko(pointer_to_tile(other).offset(512).reshape(shape![1]).broadcast(shape![B]).offset_tile(iota::<i32>(shape![B])), t, ordering::Weak, None::<scope::TileBlock>, None, None, Latency::<0>);
    }
    for i in 0..num_tiles(&pa, 0) {
        let p = if i % 3 == 0 { pointer_to_tile(bins) } else { pointer_to_tile(other).offset(i) };
        let _ = atomic_rmw_tko(p.reshape(shape![1]).broadcast(shape![B]).offset_tile(pa.load([i]) % 16), constant(1, shape![B]), atomic::Add, ordering::Relaxed, scope::Device, None, None);
    }
}
#[tile]
unsafe fn read<const B: i32>(sums: &mut Tensor<i32, {[1]}>, bins: *mut i32, at: &Tensor<i32, {[-1]}>) {
    let pa = at.partition(shape![B]);
    let p = pointer_to_tile(bins).reshape(shape![1]).broadcast(shape![B]);
    let mut sum = 0;
    for i in 0..num_tiles(&pa, 0) {
        let t = pa.load([i]);
        let _ = atomic_rmw_tko(p.offset_tile(t % 300), constant(1, shape![B]), atomic::Add, ordering::Relaxed, scope::Device, None, None);
        let (seen, _) = load_ptr_tko(pointer_to_tile(bins).offset(i), ordering::Relaxed, Some(scope::Device), None, None, None, Latency::<0>);
        sum = sum + tile_to_scalar(seen) * (i + 1);
    }
    for i in 0..num_tiles(&pa, 0) {
        let _ = atomic_rmw_tko(p.offset_tile(pa.load([i]) % 300), constant(2, shape![B]), atomic::Add, ordering::Relaxed, scope::Device, None, None);
    }
    let (all, _) = load_ptr_tko(p.offset_tile(iota::<i32>(shape![B])), ordering::Relaxed, Some(scope::Device), None, None, None, Latency::<0>);
    sums.store(scalar_to_tile(sum + tile_to_scalar(reduce_sum(all * (iota::<i32>(shape![B]) % 7), 0))).reshape(shape![1]));
}
]]

local RUNS = [[
#[tile]
unsafe fn add_rows<const R: i32, const N: i32>(to: *mut $T, x: &Tensor<$T, {[-1, N]}>, rows: &Tensor<i32, {[-1]}>, stride: i32, shift: i32, most: i32) {
    let row = rows.load_tile(shape![R], [program_id(0)]).reshape(shape![R, 1]).broadcast(shape![R, N]);
    let column = iota(shape![N]).reshape(shape![1, N]).broadcast(shape![R, N]);
    let p = pointer_to_tile(to).reshape(shape![1, 1]).broadcast(shape![R, N]).offset_tile(row * stride + column + shift);
    let _ = atomic_rmw_tko(p, x.load_tile(shape![R, N], [program_id(0), 0]), atomic::$add, ordering::Relaxed, scope::Device, Some(lt_tile(column, most.broadcast(shape![R, N]))), None);
}
#[tile]
unsafe fn move_rows<const R: i32, const N: i32>(to: *mut $T, from: *const $T, rows: &Tensor<i32, {[-1]}>, stride: i32, shift: i32, most: i32) {
    let row = rows.load_tile(shape![R], [program_id(0)]).reshape(shape![R, 1]).broadcast(shape![R, N]);
    let column = iota(shape![N]).reshape(shape![1, N]).broadcast(shape![R, N]);
    let is_in = lt_tile(column, most.broadcast(shape![R, N]));
    let p = pointer_to_tile(from).reshape(shape![1, 1]).broadcast(shape![R, N]).offset_tile(row * stride + (column + shift));
    let (t, _) = load_ptr_tko(p, ordering::Weak, None::<scope::TileBlock>, Some(is_in), Some($T::ONE), None, Latency::<0>);
    let q = pointer_to_tile(to).reshape(shape![1, 1]).broadcast(shape![R, N]).offset_tile(row * stride + column);
    store_ptr_tko(q, t + t, ordering::Weak, None::<scope::TileBlock>, Some(lt_tile(column, (most + 1).broadcast(shape![R, N]))), None, Latency::<0>);
}
]]

local function replaced(text, words) return (text:gsub("%$(%w+)", words)) end

local function random(n, least, most, dtype)
  local x = {}
  for i = 1, n do x[i] = math.random(least, most) end
  return gpu.from_table(x, dtype or "i32")
end

-- Offsets from 0, and some that are far from the others or below all of the first tile.
local RANGES = { { 0, 15 }, { 100, 355 }, { 0, 9999 } }

local function bins(h)
  for _, form in ipairs { { "i32", "Add" }, { "u32", "Max" }, { "i32", "Min" }, { "u32", "And" }, { "i32", "Or" }, { "u32", "Xor" }, { "i64", "Add" } } do
    local k = gpu.kernels(replaced(BINS, { T = form[1], mode = form[2] }), "bins")
    for _, range in ipairs(RANGES) do
      local n, what = 5000, ("%s of %s, from %d to %d"):format(form[2], form[1], range[1], range[2])
      local at, x = random(n, range[1], range[2]), random(n, 0, 1 << 30, form[1])
      local function empty() return random(range[2] + 1, 0, 1 << 30, form[1]) end
      for _, B in ipairs { 128, 256, 1024, 4096 } do
        h.both(("%s, %d at once"):format(what, B), { empty(), at, x }, function(a, b, c)
          k.one:with { B = B, grid = { (n + B - 1) // B } }(a, b, c, n - 7):sync()
        end)
      end
      for _, warps in ipairs { 1, 8 } do
        h.both(("%s in turns, %d warps"):format(what, warps), { empty(), at, x }, function(a, b, c)
          k.turns:with { B = 256, grid = { 3 }, warps = warps }(a, b, c, 20):sync()
        end)
      end
    end
  end
end

local function seen(h)
  local k = gpu.kernels(SEEN, "seen")
  local at = random(4096, 0, 1 << 20)
  h.both("one block, two updates", { gpu.zeros({ 16 }, "i32"), at }, function(a, b) k.two:with { B = 512, grid = { 1 } }(a, b):sync() end)
  h.both("places of two arrays", { gpu.zeros({ 16 }, "i32"), gpu.zeros({ 1024 }, "i32"), at },
    function(a, b, c) k.chosen:with { B = 512, grid = { 1 } }(a, b, c):sync() end)
  h.both("bins that are read", { gpu.zeros({ 1 }, "i32"), gpu.zeros({ 512 }, "i32"), at },
    function(a, b, c) k.read:with { B = 512 }(a:tiles { 1 }, b, c):sync() end)
end

local function runs(h)
  for _, dtype in ipairs { "f32", "f16", "bf16", "f64", "i32" } do
    local words = { T = dtype, add = gpu.zeros({ 1 }, dtype).dtype:find "^i" and "Add" or "AddF" }
    local k = gpu.kernels(replaced(RUNS, words), "runs")
    local R, N, rows = 8, 64, 40
    local x, places = random(rows * N, -8, 8, dtype):reshape { rows, N }, random(rows, 0, 9)
    for _, form in ipairs { { 64, 0, 64 }, { 64, 0, 41 }, { 72, 4, 64 }, { 65, 1, 64 }, { 64, 2, 30 } } do
      local stride, shift, most = table.unpack(form)
      local what = ("%s, rows of %d, from %d, %d wide"):format(dtype, stride, shift, most)
      h.both("sums of " .. what, { random(10 * stride + N + shift, -4, 4, dtype), x, places }, function(a, b, c)
        k.add_rows:with { R = R, grid = { rows // R } }(a, b, c, stride, shift, most):sync()
      end)
      local order, from = gpu.from_table({ 3, 1, 0, 2, 7, 6, 4, 5 }, "i32"), random(8 * stride + N + shift, -9, 9, dtype)
      h.both("moves of " .. what, { gpu.zeros({ 8 * stride + N }, dtype), from, order }, function(a, b, c)
        k.move_rows:with { R = R, N = N, grid = { 1 } }(a, b, c, stride, shift, most):sync()
      end)
    end
  end
end

return function(h)
  for _, case in ipairs { { "bins", bins }, { "seen", seen }, { "runs", runs } } do
    h.group("updates." .. case[1], function()
      math.randomseed(h.seed_of("updates", case[1]))
      case[2](h)
    end)
  end
end
