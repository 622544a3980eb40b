-- Inclusive prefix sums of f32 numbers, against torch.cumsum, in three forms:
--
-- one   A launch that reads the input once, with look-back (Merrill and Garland, 2016). Each block takes
--       the next tile's number from a counter, so that tiles before its own are done or being done, says
--       what its tile sums to, and adds what the tiles before it say, a window of them at a time, until
--       one says its whole prefix. Sum and state of a tile are one word: no order of words is needed.
-- stay  The same by blocks that take one tile after another: the next one is on its way while the sums
--       before this one are looked for.
-- two   Two launches, which read it twice: each block sums its chunk; then each adds the sums of the
--       chunks before its own and goes through its chunk again, tile by tile.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"

local CHUNK = 4096 -- of the check
-- Tile, window and warps of the form in one launch.
local ONE = {
  { 4096, 32, 8 }, { 4096, 64, 8 }, { 4096, 128, 8 }, { 4096, 256, 8 }, { 2048, 128, 4 }, { 2048, 256, 8 },
  { 8192, 128, 16 }, { 8192, 256, 16 }, { 8192, 256, 8 },
}
local STAY = { { 4096, 32, 8 }, { 4096, 128, 8 }, { 4096, 256, 8 }, { 4096, 128, 16 }, { 8192, 128, 16 } }
local STAYING = 512 -- more blocks than run at once: those that come late find nothing to do
local TWO = { { 1024, 1024 }, { 2048, 1024 }, { 2048, 2048 } } -- tile, blocks

bench.main("scan", function()
  local kernels = gpu.kernels([[
    #[tile]
    fn parts<const B: i32, const C: i32>(part: &mut Tensor<f32, {[1]}>, x: &Tensor<f32, {[-1]}>) {
        let px = x.partition(shape![B]);
        let mut sum = constant(0.0f32, shape![B]);
        for i in 0..C / B { sum = sum + px.load([program_id(0) * (C / B) + i]); }
        part.store(reduce_sum(sum, 0).reshape(shape![1]));
    }

    #[tile]
    fn scan_chunks<const B: i32, const C: i32, const G: i32>(z: &mut Tensor<f32, {[C]}>, x: &Tensor<f32, {[-1]}>, part: &Tensor<f32, {[G]}>) {
        let px = x.partition(shape![B]);
        let mut pz = z.partition_mut(shape![B]);
        let earlier = lt_tile(iota(shape![G]), broadcast_scalar(program_id(0), shape![G]));
        let sums = select(earlier, part.load_tile(shape![G], [0]), constant(0.0f32, shape![G]));
        let mut before = reduce_sum(sums, 0);
        for i in 0..C / B {
            let t = px.load([program_id(0) * (C / B) + i]);
            let s = scan_sum(t, 0, reverse::Forward, 0.0f32);
            pz.store(s + before.reshape(shape![1]).broadcast(shape![B]), [i]);
            before = before + reduce_sum(t, 0);
        }
    }

    fn word(value: Tile<f32, {[]}>, state: u64) -> Tile<u64, {[]}> {
        let bits: Tile<u32, {[]}> = bitcast(value);
        let low: Tile<u64, {[]}> = convert_tile(bits);
        low | state << 32u64
    }

    // The sum of all tiles before `number`.
    unsafe fn look_back<const W: i32>(words: PointerTile<*mut u64, {[]}>, number: i32) -> f32 {
        let lane = iota(shape![W]);
        let mut before = 0.0f32;
        let mut end = number;
        while end > 0 {
            let at = lane + (end - W);
            let places = words.reshape(shape![1]).broadcast(shape![W]).offset_tile(at);
            let (seen, _) = load_ptr_tko(places, ordering::Relaxed, Some(scope::Device), Some(at >= 0), Some(2u64 << 32u64), None, Latency::<0>);
            let state = seen >> 32u64;
            // The last tile that is no plain sum decides: 2 * i + 1 for one that says nothing, 2 * i for a prefix.
            let stop = select(state == 0u64, lane * 2 + 1, select(state == 2u64, lane * 2, constant(-1, shape![W])));
            let last = tile_to_scalar(reduce_max(stop, 0));
            if last < 0 || last & 1 == 0 {
                let bits: Tile<u32, {[W]}> = convert_tile(seen);
                let values: Tile<f32, {[W]}> = bitcast(bits);
                before = before + tile_to_scalar(reduce_sum(select(lane * 2 >= last, values, constant(0.0f32, shape![W])), 0));
                end = if last < 0 { end - W } else { 0 };
            }
        }
        before
    }

    // The next tile's number.
    unsafe fn take(counter: PointerTile<*mut u64, {[]}>) -> i32 {
        let (ticket, _) = atomic_rmw_tko(counter, scalar_to_tile(1u64), atomic::Add, ordering::Relaxed, scope::Device, None, None);
        convert_scalar(tile_to_scalar(ticket))
    }

    // state: the counter, then a word for each tile, all 0 at first.
    #[tile]
    unsafe fn scan<const B: i32, const W: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, state: *mut u64) {
        let counter = pointer_to_tile(state);
        let number = take(counter);
        let t = x.partition(shape![B]).load([number]);
        let sums = scan_sum(t, 0, reverse::Forward, 0.0f32);
        let total = reduce_sum(t, 0);
        let words = counter.offset(1);
        let mine = words.offset(number);
        let mut before = 0.0f32;
        if number > 0 {
            store_ptr_tko(mine, word(total, 1u64), ordering::Relaxed, Some(scope::Device), None, None, Latency::<0>);
            before = look_back::<W>(words, number);
        }
        let prefix = scalar_to_tile(before + tile_to_scalar(total));
        store_ptr_tko(mine, word(prefix, 2u64), ordering::Relaxed, Some(scope::Device), None, None, Latency::<0>);
        z.partition_full_mut(shape![B]).store(sums + before, [number]);
    }

    #[tile]
    unsafe fn stay<const B: i32, const W: i32, const C: i32>(z: &mut Tensor<f32, {[C]}>, x: &Tensor<f32, {[-1]}>, state: *mut u64, tiles: i32) {
        let counter = pointer_to_tile(state);
        let words = counter.offset(1);
        let px = x.partition(shape![B]);
        let mut number = take(counter);
        let mut t = px.load([number.min(tiles - 1)]);
        while number < tiles {
            let sums = scan_sum(t, 0, reverse::Forward, 0.0f32);
            let total = reduce_sum(t, 0);
            let mine = words.offset(number);
            if number > 0 {
                store_ptr_tko(mine, word(total, 1u64), ordering::Relaxed, Some(scope::Device), None, None, Latency::<0>);
            }
            let next = take(counter);
            t = px.load([next.min(tiles - 1)]);
            let before = look_back::<W>(words, number);
            let prefix = scalar_to_tile(before + tile_to_scalar(total));
            store_ptr_tko(mine, word(prefix, 2u64), ordering::Relaxed, Some(scope::Device), None, None, Latency::<0>);
            z.partition_full_mut(shape![B]).store(sums + before, [number]);
            number = next;
        }
    }

    #[kernel]
    fn reference(x: &[f32], mut sums: DisjointSlice<f64>) {
        let at = thread::index_1d();
        let c = at.get();
        let n = x.len() / sums.len();
        if let Some(sum) = sums.get_mut(at) {
            let mut s = 0.0f64;
            for j in 0..n { s = s + x[c * n + j] as f64; }
            *sum = s;
        }
    }

    // A chunk of each thread, from the f64 prefix of what is before it.
    #[kernel]
    fn check(z: &[f32], x: &[f32], before: &[f64], off: f64, mut bad: DisjointSlice<u8>) {
        let at = thread::index_1d();
        let c = at.get();
        let n = x.len() / bad.len();
        if let Some(flag) = bad.get_mut(at) {
            let mut s = before[c];
            let mut wrong = 0u8;
            for j in 0..n {
                s = s + x[c * n + j] as f64;
                if !((z[c * n + j] as f64 - s).abs() <= off) { wrong = 1; }
            }
            *flag = wrong;
        }
    }
  ]], "scan")
  local n = bench.option("n", 1 << 28)
  local x, z, sums = bench.normal(n, 4000037), gpu.empty { n }, gpu.empty({ n // CHUNK }, "f64")
  local bad = gpu.empty({ n // CHUNK }, "u8")
  kernels.reference(x, sums):sync()
  local prefixes, total, greatest = {}, 0.0, 0.0
  for i, s in ipairs(sums:to_table()) do
    prefixes[i], total, greatest = total, total + s, math.max(greatest, math.abs(total))
  end
  local before = gpu.from_table(prefixes, "f64")
  local variants = {}
  for i, form in ipairs(ONE) do
    local tile, window, warps = table.unpack(form)
    local state = gpu.empty({ 1 + n // tile }, "u64")
    local scan, tiles = kernels.scan:with { W = window, warps = warps }, z:tiles { tile }
    variants[i] = { ("one_%dx%dx%d"):format(tile, window, warps), function()
      state:fill(0)
      scan(tiles, x, state):run()
    end }
  end
  for _, form in ipairs(STAY) do
    local tile, window, warps = table.unpack(form)
    local state, chunks = gpu.empty({ 1 + n // tile }, "u64"), z:tiles { n // STAYING }
    local scan = kernels.stay:with { B = tile, W = window, warps = warps }
    variants[#variants + 1] = { ("stay_%dx%dx%d"):format(tile, window, warps), function()
      state:fill(0)
      scan(chunks, x, state, n // tile):run()
    end }
  end
  for _, form in ipairs(TWO) do
    local tile, blocks = form[1], form[2]
    local chunk = n // blocks
    local part = gpu.empty { blocks }
    local parts = kernels.parts:with { B = math.min(4096, chunk), C = chunk }
    local scan = kernels.scan_chunks:with { B = tile }
    local ones, chunks = part:tiles { 1 }, z:tiles { chunk }
    variants[#variants + 1] = { ("two_%dx%d"):format(tile, blocks), function()
      parts(ones, x):run()
      scan(chunks, x, part):run()
    end }
  end
  require "variants" {
    row = "scan_f32", fields = { n = n }, bar = { 0.9, 1.5, "higher" }, bytes = 8 * n,
    variants = variants, peers = { { "torch", "torch_cumsum", n } },
    poison = function() z:fill(0 / 0) end,
    -- A prefix is rounded once a tile at most, up or down: some hundred times half a unit of the greatest
    -- one's last place.
    check = function()
      bad:fill(1)
      kernels.check(z, x, before, 1e-5 * greatest, bad):sync()
      bench.check_flags(bad)
    end,
  }
end)
