-- Tile copy, f32, against torch's copy_: bytes moved per second.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
require "stream_row" {
  row = "copy_f32", n = 1 << 29, inputs = 1, bar = { 0.99, 1.0, "higher" },
  peer = "torch_copy", peer_name = "torch copy_",
  source = [[
    #[tile]
    fn run<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) {
        z.store(x.load_like(z));
    }

    #[kernel]
    fn check(z: &[f32], x: &[f32], mut bad: DisjointSlice<u8>) {
        let idx = thread::index_1d();
        let i = idx.get();
        if let Some(flag) = bad.get_mut(idx) {
            *flag = if z[i] as f64 == x[i] as f64 { 0 } else { 1 };
        }
    }
  ]],
  reference = function(x) return x end,
}
