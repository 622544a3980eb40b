-- Loops of accesses through addresses, which one warp runs for its block: what they read and write, in the
-- program's order, and what they leave to the others. Against the same loops in Lua.
local gpu = require "gpulua"

local KERNELS = [[
// Each word becomes its neighbour's and one more, which another lane wrote in the turn before.
#[tile]
unsafe fn turn_round<const B: i32, const W: i32>(z: &mut Tensor<i32, {[B]}>, state: *mut i32, turns: i32) {
    let lane = iota(shape![W]);
    let counter = pointer_to_tile(state);
    let words = counter.offset(1).reshape(shape![1]).broadcast(shape![W]);
    let mut sum = 0;
    let mut turn = 0;
    while turn < turns {
        let next = select(lane == W - 1, constant(0, shape![W]), lane + 1);
        let (seen, _) = load_ptr_tko(words.offset_tile(next), ordering::Relaxed, Some(scope::Device), None, None, None, Latency::<0>);
        store_ptr_tko(words.offset_tile(lane), seen + 1, ordering::Relaxed, Some(scope::Device), None, None, Latency::<0>);
        let (taken, _) = atomic_rmw_tko(counter, scalar_to_tile(1), atomic::Add, ordering::Relaxed, scope::Device, None, None);
        sum = sum + tile_to_scalar(reduce_sum(seen, 0));
        turn = tile_to_scalar(taken) + 1;
    }
    z.store(iota(shape![B]) + sum);
}

// How far the numbers go before one above the limit, what they come to, and whether they are many.
#[tile]
unsafe fn follow<const B: i32>(z: &mut Tensor<f64, {[B]}>, numbers: *mut f64, limit: f64) {
    let first = pointer_to_tile(numbers);
    let mut i = 0;
    let mut sum = 0.0f64;
    let mut is_odd = false;
    let mut half = 0.0f16;
    loop {
        let (x, _) = load_ptr_tko(first.offset(i), ordering::Acquire, Some(scope::Device), None, None, None, Latency::<0>);
        let x = tile_to_scalar(x);
        if x > limit { break; }
        sum = sum + x;
        half = x as f16;
        is_odd = !is_odd;
        i = i + 1;
    }
    let flag = if is_odd { 1000.0f64 } else { 0.0f64 };
    z.store(constant(0.0f64, shape![B]) + (sum + flag + i as f64 + half as f64));
}

// Its tile is also one of memory, which all warps hold parts of.
#[tile]
unsafe fn shares<const B: i32>(z: &mut Tensor<i32, {[B]}>, x: &Tensor<i32, {[-1]}>, state: *mut i32) {
    let t = x.load_like(z);
    let p = pointer_to_tile(state).reshape(shape![1]).broadcast(shape![B]);
    let lane: Tile<i32, {[B]}> = iota(shape![B]);
    let mut sum = 0;
    let mut turn = 0;
    while turn < 3 {
        let (old, _) = atomic_rmw_tko(p.offset_tile(lane), t, atomic::Add, ordering::Relaxed, scope::Device, None, None);
        sum = sum + tile_to_scalar(reduce_sum(old, 0));
        turn = turn + 1;
    }
    z.store(t + sum);
}
]]

local TURNS = 5

local function compare(h, got, want, what)
  local wrong
  for i, x in ipairs(want) do wrong = wrong or got[i] ~= x and i or nil end
  h.check(not wrong and #got == #want, "%s: element %s is %s, not %s", what, wrong, got[wrong or 1], want[wrong or 1])
end

local function turns(h, k)
  for _, width in ipairs { 1, 2, 8, 32, 48, 128, 256, 512 } do
    for _, warps in ipairs { 1, 2, 8 } do
      local state = { 0 }
      for i = 1, width do state[i + 1] = math.random(-1000, 1000) end
      local words = gpu.from_table(state, "i32")
      local z = gpu.full({ 256 }, -1, "i32")
      k.turn_round:with { W = width, warps = warps }(z:tiles { 256 }, words, TURNS):sync()
      local sum, want = 0, {}
      for _ = 1, TURNS do
        local seen = {}
        for i = 1, width do
          seen[i] = state[2 + i % width]
          sum = sum + seen[i]
        end
        for i = 1, width do state[i + 1] = seen[i] + 1 end
        state[1] = state[1] + 1
      end
      for i = 1, 256 do want[i] = sum + i - 1 end
      local what = ("%d words, %d warps"):format(width, warps)
      compare(h, z:to_table(), want, what)
      compare(h, words:to_table(), state, what .. ", words")
    end
  end
end

local function results(h, k)
  for count = 1, 8 do
    local numbers, sum = {}, 0
    for i = 1, count do
      numbers[i] = i == count and 100 or math.random(-9, 9)
      sum = sum + (i < count and numbers[i] or 0)
    end
    local z = gpu.full({ 128 }, -1, "f64")
    k.follow:with { warps = 4 }(z:tiles { 128 }, gpu.from_table(numbers, "f64"), 99):sync()
    local want = {}
    for i = 1, 128 do want[i] = sum + (count - 1) % 2 * 1000 + count - 1 + (numbers[count - 1] or 0) end
    compare(h, z:to_table(), want, ("%d numbers"):format(count))
  end
end

local function tiles(h, k)
  local x, want, sum = {}, {}, 0
  for i = 1, 256 do
    x[i] = math.random(-1000, 1000)
    sum = sum + 3 * x[i]
  end
  for i = 1, 256 do want[i] = x[i] + sum end
  local z = gpu.full({ 256 }, -1, "i32")
  k.shares:with { warps = 8 }(z:tiles { 256 }, gpu.from_table(x, "i32"), gpu.zeros({ 256 }, "i32")):sync()
  compare(h, z:to_table(), want, "a tile of memory")
end

return function(h)
  local k
  for _, case in ipairs { { "turns", turns }, { "results", results }, { "tiles", tiles } } do
    h.group("alone." .. case[1], function()
      math.randomseed(h.seed_of("alone", case[1]))
      k = k or gpu.kernels(KERNELS, "cases_alone")
      case[2](h, k)
    end)
  end
end
