-- A scan in one launch with look-back: a counter gives blocks their tiles, and blocks tell each other
-- sums through words of memory, each with its state. Against prefixes added in Lua.
local gpu = require "gpulua"

local KERNELS = [[
#[tile]
unsafe fn scan<const B: i32, const W: i32>(z: &mut Tensor<i32, {[B]}>, x: &Tensor<i32, {[-1]}>, state: *mut u64) {
    let counter = pointer_to_tile(state);
    let (ticket, _) = atomic_rmw_tko(counter, scalar_to_tile(1u64), atomic::Add, ordering::Relaxed, scope::Device, None, None);
    let number: i32 = convert_scalar(tile_to_scalar(ticket));
    let t = x.partition(shape![B]).load([number]);
    let sums = scan_sum(t, 0, reverse::Forward, 0i32);
    let total = tile_to_scalar(reduce_sum(t, 0));
    let words = counter.offset(1);
    let mine = words.offset(number);
    let mut before = 0;
    if number > 0 {
        store_ptr_tko(mine, word(total, SUM), ordering::Relaxed, Some(scope::Device), None, None, Latency::<0>);
        before = look_back::<W>(words, number);
    }
    store_ptr_tko(mine, word(before + total, PREFIX), ordering::Relaxed, Some(scope::Device), None, None, Latency::<0>);
    z.partition_full_mut(shape![B]).store(sums + before, [number]);
}

// What is before tile `number` of states that the host wrote.
#[tile]
unsafe fn probe<const W: i32>(z: &mut Tensor<i32, {[1]}>, state: *mut u64) {
    let number = program_id(0);
    z.store(broadcast_scalar(look_back::<W>(pointer_to_tile(state), number), shape![1]));
}

const SUM: u64 = 1 << 32;
const PREFIX: u64 = 2 << 32;

fn word(value: i32, state: u64) -> Tile<u64, {[]}> {
    let low: u64 = value as u32 as u64;
    scalar_to_tile(low | state)
}

unsafe fn look_back<const W: i32>(words: PointerTile<*mut u64, {[]}>, number: i32) -> i32 {
    let lane = iota(shape![W]);
    let mut before = 0;
    let mut end = number;
    while end > 0 {
        let at = lane + (end - W);
        let places = words.reshape(shape![1]).broadcast(shape![W]).offset_tile(at);
        let (seen, _) = load_ptr_tko(places, ordering::Relaxed, Some(scope::Device), Some(at >= 0), Some(PREFIX), None, Latency::<0>);
        let state = seen & (3u64 << 32u64);
        let stop = select(state == 0u64, lane * 2 + 1, select(state == PREFIX, lane * 2, constant(-1, shape![W])));
        let last = tile_to_scalar(reduce_max(stop, 0));
        if last < 0 || last & 1 == 0 {
            let values: Tile<i32, {[W]}> = convert_tile(seen);
            before = before + tile_to_scalar(reduce_sum(select(lane * 2 >= last, values, constant(0, shape![W])), 0));
            end = if last < 0 { end - W } else { 0 };
        }
    }
    before
}
]]

local WIDTHS = { 1, 32, 64, 256 }

local function whole(h, k)
  for _, form in ipairs { { 1, 64, 32 }, { 1000, 256, 32 }, { 4096, 1024, 64 }, { 9001, 256, 128 }, { 5000, 96, 256 } } do
    local n, tile, width = table.unpack(form)
    local values, want, sum = {}, {}, 0
    for i = 1, n do
      values[i] = math.random(-1000, 1000)
      sum = sum + values[i]
      want[i] = sum
    end
    local z, state = gpu.full({ n }, -1, "i32"), gpu.zeros({ 1 + (n + tile - 1) // tile }, "u64")
    k.scan:with { W = width }(z:tiles { tile }, gpu.from_table(values, "i32"), state):sync()
    local got, wrong = z:to_table(), nil
    for i = 1, n do wrong = wrong or got[i] ~= want[i] and i or nil end
    h.check(not wrong, "scan of %d in tiles of %d: element %s is %s, not %s", n, tile, wrong, got[wrong or 1], want[wrong or 1])
  end
end

-- States of tiles that are being done: prefixes at some of them, sums at the others.
local function states(count, prefix_at)
  local words, want, sum = {}, {}, 0
  for i = 1, count do
    local value = math.random(-1000, 1000)
    want[i] = sum
    sum = sum + value
    local is_prefix = i == 1 or prefix_at(i)
    words[i] = (is_prefix and 2 or 1) << 32 | (is_prefix and sum or value) & 0xffffffff
  end
  return words, want
end

local function windows(h, k)
  local count = 600
  local patterns = {
    none = function() return false end, all = function() return true end,
    sparse = function(i) return i % 97 == 5 end, borders = function(i) return i % 32 == 0 end,
  }
  for name, prefix_at in pairs(patterns) do
    local words, want = states(count, prefix_at)
    local state = gpu.from_table(words, "u64")
    for _, width in ipairs(WIDTHS) do
      local z = gpu.full({ count }, -1, "i32")
      k.probe:with { W = width }(z:tiles { 1 }, state):sync()
      local got, wrong = z:to_table(), nil
      for i = 1, count do wrong = wrong or got[i] ~= want[i] and i or nil end
      h.check(not wrong, "%s, windows of %d: before tile %s is %s, not %s", name, width, wrong, got[wrong or 1], want[wrong or 1])
    end
  end
end

-- A window that takes one tile too many.
local function mutant(h)
  local text, count = KERNELS:gsub("lane %* 2 >= last", "lane * 2 + 2 >= last")
  local words, want = states(100, function(i) return i % 7 == 0 end)
  local z = gpu.zeros({ 100 }, "i32")
  gpu.kernels(text, "mutant").probe:with { W = 32 }(z:tiles { 1 }, gpu.from_table(words, "u64")):sync()
  local is_equal = true
  for i, got in ipairs(z:to_table()) do is_equal = is_equal and got == want[i] end
  h.mutant(count ~= 1 or is_equal, "scan")
end

return function(h)
  local k
  for _, case in ipairs { { "whole", whole }, { "windows", windows }, { "mutant", mutant } } do
    h.group("scan." .. case[1], function()
      math.randomseed(h.seed_of("scan", case[1]))
      k = k or gpu.kernels(KERNELS, "cases_scan")
      case[2](h, k)
    end)
  end
end
