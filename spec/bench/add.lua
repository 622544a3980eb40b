-- Tile add, f32, against torch.add with an output: bytes moved per second.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
require "stream_row" {
  row = "add_f32", n = 1 << 28, inputs = 2, bar = { 0.99, 1.0, "higher" },
  twin = true, peer = "torch_add", peer_name = "torch.add",
  source = [[
    #[tile]
    fn run<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
        z.store(x.load_like(z) + y.load_like(z));
    }

    #[cutile::entry(unchecked_accesses = true)]
    unsafe fn unchecked<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
        z.store(x.load_like(z) + y.load_like(z));
    }

    #[kernel]
    fn check(z: &[f32], x: &[f32], y: &[f32], mut bad: DisjointSlice<u8>) {
        let idx = thread::index_1d();
        let i = idx.get();
        if let Some(flag) = bad.get_mut(idx) {
            let want = (x[i] as f64 + y[i] as f64) as f32;
            *flag = if z[i] == want { 0 } else { 1 };
        }
    }
  ]],
  reference = function(x, y) return x + y end,
}
