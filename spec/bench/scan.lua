-- Inclusive prefix sums of f32 numbers, against torch.cumsum: one launch that reads the input once, with
-- look-back (Merrill and Garland, 2016). Each block says what its tile sums to, and adds what the tiles before
-- it say, a window of them at a time, until one says its whole prefix. Sum, state and launch of a tile are one
-- word: no order of words is needed, and none of them is cleared between launches. Each has a line of the cache
-- to itself: side by side they would be in the few parts of the cache that all blocks read at once.
--
-- scan             A block's tile is its own number. This rests on blocks starting in the order of their
--                  numbers, as those of GPUs do, so that tiles before it are done or being done.
-- scan_by_counter  Each block takes the next tile's number from a counter: it rests on nothing but that blocks
--                  which have started go on, and waits for the counter before it loads.
--
-- One warp looks back while the others wait for it (codegen/emit_tile_gpu_alone.c).
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"

local CHUNK = 4096 -- of the check
local LINE = 16 -- words from one tile's to the next one's: a line of the cache
-- Kernel, tile, window, warps.
local FORMS = {
  { "scan", 8192, 32, 4 }, { "scan", 8192, 64, 4 }, { "scan", 8192, 32, 8 }, { "scan", 16384, 32, 8 }, { "scan", 16384, 32, 16 },
  { "scan", 4096, 32, 4 }, { "scan_by_counter", 8192, 32, 4 }, { "scan_by_counter", 8192, 32, 8 },
}

bench.main("scan", function()
  local kernels = gpu.kernels([[
    fn word(value: f32, state: u64) -> Tile<u64, {[]}> {
        let bits: Tile<u32, {[]}> = bitcast(scalar_to_tile(value));
        let low: Tile<u64, {[]}> = convert_tile(bits);
        low | state << 32u64
    }

    const LINE: i32 = 16;

    // The sum of all tiles before `number`. This tile's word says its total, then, as soon as that is known, its
    // prefix. Behind the counter are the words of W tiles that there are not, so that a window may begin there.
    unsafe fn look_back<const W: i32>(state: *mut u64, number: i32, total: f32, launch: u64) -> f32 {
        let words = pointer_to_tile(state).offset(1);
        let mine = words.offset((W + number) * LINE);
        let (is_sum, is_prefix) = (launch * 2u64, launch * 2u64 + 1u64);
        let lane = iota(shape![W]);
        let mut before = 0.0f32;
        let mut end = number;
        store_ptr_tko(mine, word(total, if number > 0 { is_sum } else { is_prefix }), ordering::Relaxed, Some(scope::Device), None, None, Latency::<0>);
        while end > 0 {
            let places = words.offset(end * LINE).reshape(shape![1]).broadcast(shape![W]).offset_tile(lane * LINE);
            let (seen, _) = load_ptr_tko(places, ordering::Relaxed, Some(scope::Device), None, None, None, Latency::<0>);
            let state = seen >> 32u64;
            let is_tile = lane >= W - end;
            // The last tile that is no plain sum decides: 2 * i + 1 for one that says nothing, 2 * i for a prefix.
            let other = select(state == is_prefix, lane * 2, lane * 2 + 1);
            let stop = select(is_tile, select(state == is_sum, constant(-1, shape![W]), other), lane * 2);
            let last = tile_to_scalar(reduce_max(stop, 0));
            let bits: Tile<u32, {[W]}> = convert_tile(seen);
            let values: Tile<f32, {[W]}> = bitcast(bits);
            let counts = (lane * 2 >= last) & is_tile;
            before = before + tile_to_scalar(reduce_sum(select(counts, values, constant(0.0f32, shape![W])), 0));
            end = if last & 1 == 1 { end - W + (last + 1) / 2 } else { 0 };
            if end == 0 {
                store_ptr_tko(mine, word(before + total, is_prefix), ordering::Relaxed, Some(scope::Device), None, None, Latency::<0>);
            }
        }
        before
    }

    // state: a counter, W words of no tile, one for each tile, all a line apart and 0 before launch 1.
    #[tile]
    unsafe fn scan<const B: i32, const W: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, state: *mut u64, launch: u64) {
        let t = x.load_like(z);
        let sums = scan_sum(t, 0, reverse::Forward, 0.0f32);
        z.store(sums + look_back::<W>(state, program_id(0), tile_to_scalar(reduce_sum(t, 0)), launch));
    }

    #[tile]
    unsafe fn scan_by_counter<const B: i32, const W: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, state: *mut u64, launch: u64) {
        let (taken, _) = atomic_rmw_tko(pointer_to_tile(state), scalar_to_tile(1u64), atomic::Add, ordering::Relaxed, scope::Device, None, None);
        let number = tile_to_scalar(taken) as i32 - (launch - 1u64) as i32 * num_programs(0);
        let t = x.partition(shape![B]).load([number]);
        let sums = scan_sum(t, 0, reverse::Forward, 0.0f32);
        z.partition_full_mut(shape![B]).store(sums + look_back::<W>(state, number, tile_to_scalar(reduce_sum(t, 0)), launch), [number]);
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
  for i, form in ipairs(FORMS) do
    local name, tile, window, warps = table.unpack(form)
    local count, launches = n // tile, 0
    local state = gpu.zeros({ 1 + (window + count) * LINE }, "u64")
    local scan, tiles = kernels[name]:with { W = window, warps = warps }, z:tiles { tile }
    variants[i] = { table.concat(form, "x"), function()
      launches = launches + 1
      scan(tiles, x, state, launches):run()
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
