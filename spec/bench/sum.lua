-- The sum of f32 numbers in two launches: each block adds every so manieth tile, one block adds what
-- they have; against torch.sum.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"

local CHUNK = 4096                                            -- of the check
local FORMS = { { 2048, 528 }, { 2048, 1056 }, { 4096, 528 }, { 4096, 1056 }, { 8192, 264 }, { 8192, 528 } }

bench.main("sum", function()
  local kernels = gpu.kernels([[
    #[tile]
    fn parts<const B: i32>(part: &mut Tensor<f32, {[1]}>, x: &Tensor<f32, {[-1]}>) {
        let px = x.partition(shape![B]);
        let mut sum = constant(0.0f32, shape![B]);
        let mut i = program_id(0);
        while i < num_tiles(&px, 0) {
            sum = sum + px.load([i]);
            i = i + num_programs(0);
        }
        part.store(reduce_sum(sum, 0).reshape(shape![1]));
    }

    #[tile]
    fn total<const G: i32>(sum: &mut Tensor<f32, {[1]}>, part: &Tensor<f32, {[-1]}>) {
        sum.store(reduce_sum(part.load_tile(shape![G], [0]), 0).reshape(shape![1]));
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
  ]], "sum")
  local n = bench.option("n", 1 << 28)
  local x, sum, sums = bench.normal(n, 4000037), gpu.empty { 1 }, gpu.empty({ n // CHUNK }, "f64")
  kernels.reference(x, sums):sync()
  local want = 0.0
  for _, s in ipairs(sums:to_table()) do want = want + s end
  local variants = {}
  for i, form in ipairs(FORMS) do
    local blocks = form[2]
    local part = gpu.empty { blocks }
    local parts, total = kernels.parts:with { B = form[1] }, kernels.total:with { G = 2048 }
    local tiles, one = part:tiles { 1 }, sum:tiles { 1 }
    variants[i] = { ("%dx%d"):format(form[1], blocks), function()
      parts(tiles, x):run()
      total(one, part):run()
    end }
  end
  require "variants" {
    row = "sum_f32", fields = { n = n }, bar = { 0.97, 1.05, "higher" }, bytes = 4 * n,
    variants = variants, peers = { { "torch", "torch_sum", n } },
    poison = function() sum:fill(0 / 0) end,
    -- Parts are sums of some 10^5 numbers: f32 keeps the total to far less than one number.
    check = function()
      local got = sum:to_table()[1]
      if not (math.abs(got - want) <= 1e-5 * math.sqrt(n)) then
        error(("the sum is %.9g, the float64 reference gives %.9g"):format(got, want), 0)
      end
    end,
  }
end)
