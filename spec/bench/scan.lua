-- Inclusive prefix sums of f32 numbers in two launches, which read the input twice: each block sums its
-- chunk; then each adds the sums of the chunks before its own and goes through its chunk again, tile
-- by tile. Against torch.cumsum.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"

local CHUNK = 4096 -- of the check
local FORMS = { { 1024, 1024 }, { 2048, 1024 }, { 4096, 1024 }, { 2048, 2048 }, { 4096, 512 }, { 8192, 512 } }

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
    local tile, blocks = form[1], form[2]
    local chunk = n // blocks
    local part = gpu.empty { blocks }
    local parts = kernels.parts:with { B = math.min(4096, chunk), C = chunk }
    local scan = kernels.scan_chunks:with { B = tile }
    local ones, chunks = part:tiles { 1 }, z:tiles { chunk }
    variants[i] = { ("%dx%d"):format(tile, blocks), function()
      parts(ones, x):run()
      scan(chunks, x, part):run()
    end }
  end
  require "variants" {
    row = "scan_f32", fields = { n = n }, bar = { 0.9, 1.5, "higher" }, bytes = 8 * n,
    variants = variants, peers = { { "torch", "torch_cumsum", n } },
    poison = function() z:fill(0 / 0) end,
    -- A prefix is rounded once a tile: some hundred times half a unit of the greatest one's last place.
    check = function()
      bad:fill(1)
      kernels.check(z, x, before, 4e-6 * greatest, bad):sync()
      bench.check_flags(bad)
    end,
  }
end)
