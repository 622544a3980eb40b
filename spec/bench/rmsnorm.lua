-- Each row of a bf16 matrix divided by the root of its mean square, times a weight for each column;
-- computed in f32.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
bench.main("rmsnorm", function()
  require "rows_row" {
    name = "rmsnorm", weights = true,
    source = [[
      #[tile]
      fn run<const R: i32, const N: i32>(z: &mut Tensor<bf16, {[R, N]}>, x: &Tensor<bf16, {[-1, -1]}>, w: &Tensor<bf16, {[N]}>) {
          let t: Tile<f32, {[R, N]}> = convert_tile(x.load_like(z));
          let n: f32 = convert_scalar(N);
          let mean = reduce_sum(t * t, 1).reshape(shape![R, 1]) / n;
          let scale = rsqrt(mean + 1e-6).broadcast(shape![R, N]);
          let g: Tile<f32, {[1, N]}> = convert_tile(w.load_tile(shape![N], [0]).reshape(shape![1, N]));
          z.store(convert_tile(t * scale * g.broadcast(shape![R, N])));
      }

      // A row of each thread, in f64: half a unit of the last place of bf16 is at most 2^-8 of the value.
      #[kernel]
      fn check(z: &[bf16], x: &[bf16], w: &[bf16], mut bad: DisjointSlice<u8>) {
          let row = thread::index_1d();
          let r = row.get();
          let n = w.len();
          if let Some(flag) = bad.get_mut(row) {
              let mut sum = 0.0f64;
              for j in 0..n { sum = sum + x[r * n + j] as f64 * x[r * n + j] as f64; }
              let scale = 1.0 / (sum / n as f64 + 1e-6).sqrt();
              let mut wrong = 0u8;
              for j in 0..n {
                  let want = x[r * n + j] as f64 * scale * w[j] as f64;
                  let off = (z[r * n + j] as f64 - want).abs();
                  if !(off <= want.abs() * 0.00395) { wrong = 1; }
              }
              *flag = wrong;
          }
      }
    ]],
  }
end)
