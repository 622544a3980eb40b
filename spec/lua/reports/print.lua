-- What kernels print goes to the host's `write`, which for the program is stderr.
local gpu = require "gpulua"

local k = gpu.kernels [[
  #[tile]
  fn tile(z: &mut Tensor<f32, {[2, 4]}>, n: i64, flag: bool) {
      let (x, y, _) = get_tile_block_id();
      cuda_tile_print!("block <{}, {}>, {} {} {{100%}} {}\n", x, y, n, flag, 2.5f32);
      let token = print_tko("z = %8.3f\n", z.load() + 0.5, None);
      println!("{} {}", iota::<u8, {[3]}>(shape![3]).reshape(shape![3, 1]), scalar_to_tile(-7i16));
  }
  #[kernel]
  fn thread(x: &[f64]) {
      let i = thread::index_1d().get();
      if i < x.len() { gpu_printf!("x[{}] = {}\n", i, x[i]); }
  }
]]

k.tile(gpu.arange(8):reshape { 2, 4 }:tiles { 2, 4 }, -3, true):sync()
k.thread:with { grid = 1, block = 4 }(gpu.from_table({ 1.5, 0.1 }, "f64")):sync()
