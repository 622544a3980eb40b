-- The transpose of an f32 matrix, against torch's x.t().contiguous().
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"

local FORMS = { { 32, 32, 4 }, { 32, 64, 4 }, { 64, 32, 4 }, { 64, 64, 4 }, { 64, 64, 8 }, { 64, 64, 16 } }

bench.main("transpose", function()
  local kernels = gpu.kernels([[
    #[tile]
    fn run<const R: i32, const C: i32>(z: &mut Tensor<f32, {[R, C]}>, x: &Tensor<f32, {[-1, -1]}>) {
        let t = x.load_tile(shape![C, R], [program_id(1), program_id(0)]);
        z.store(t.transpose());
    }

    #[kernel]
    fn check(z: &[f32], x: &[f32], n: usize, mut bad: DisjointSlice<u8>) {
        let at = thread::index_1d();
        let i = at.get();
        if let Some(flag) = bad.get_mut(at) {
            *flag = if z[i] == x[i % n * n + i / n] { 0 } else { 1 };
        }
    }
  ]], "transpose")
  local n = bench.option("n", 8192)
  local x, z, bad = gpu.randn { n, n }, gpu.empty { n, n }, gpu.empty({ n * n }, "u8")
  local variants = {}
  for i, form in ipairs(FORMS) do
    local run, part = kernels.run:with { warps = form[3] }, z:tiles { form[1], form[2] }
    variants[i] = { ("%dx%dx%d"):format(table.unpack(form)), function() run(part, x):run() end }
  end
  require "variants" {
    row = "transpose_f32", fields = { n = n }, bar = { 2.5, 3.3, "higher" }, bytes = 8 * n * n,
    variants = variants, peers = { { "torch", "torch_transpose", n } },
    poison = function() z:fill(0 / 0) end,
    check = function()
      bad:fill(1)
      kernels.check(z:view { n * n }, x:view { n * n }, n, bad):sync()
      bench.check_flags(bad)
    end,
  }
end)
