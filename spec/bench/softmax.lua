-- Softmax of each row of a bf16 matrix, computed in f32.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
bench.main("softmax", function()
  require "rows_row" {
    name = "softmax",
    source = [[
      #[tile]
      fn run<const R: i32, const N: i32>(z: &mut Tensor<bf16, {[R, N]}>, x: &Tensor<bf16, {[-1, -1]}>) {
          let t: Tile<f32, {[R, N]}> = convert_tile(x.load_like(z));
          let greatest = reduce_max(t, 1).reshape(shape![R, 1]);
          // e^(t - greatest): the logarithm of e to base 2 goes into one fma.
          let e = exp2(t * 1.4426950408889634 - (greatest * 1.4426950408889634).broadcast(shape![R, N]));
          let scale = 1.0 / reduce_sum(e, 1).reshape(shape![R, 1]);
          z.store(convert_tile(e * scale.broadcast(shape![R, N])));
      }

      // A row of each thread, in f64: half a unit of the last place of bf16 is at most 2^-8 of the value.
      #[kernel]
      fn check(z: &[bf16], x: &[bf16], mut bad: DisjointSlice<u8>) {
          let row = thread::index_1d();
          let r = row.get();
          let n = x.len() / bad.len();
          if let Some(flag) = bad.get_mut(row) {
              let mut greatest = x[r * n] as f64;
              for j in 0..n { greatest = greatest.max(x[r * n + j] as f64); }
              let mut sum = 0.0f64;
              for j in 0..n { sum = sum + (x[r * n + j] as f64 - greatest).exp(); }
              let mut wrong = 0u8;
              for j in 0..n {
                  let want = (x[r * n + j] as f64 - greatest).exp() / sum;
                  let off = (z[r * n + j] as f64 - want).abs();
                  if !(off <= want * 0.00395) { wrong = 1; }
              }
              *flag = wrong;
          }
      }
    ]],
  }
end)
