-- The Mandelbrot set as a picture: gpulua examples/mandelbrot.lua [FILE.png [WIDTH HEIGHT]]
local gpu = require "gpulua"

local k = gpu.kernels [[
  fn escape(cx: f32, cy: f32, limit: u32) -> u32 {
      let mut x = 0.0;
      let mut y = 0.0;
      let mut n = 0;
      while n < limit && x * x + y * y <= 4.0 {
          let next = x * x - y * y + cx;
          y = 2.0 * x * y + cy;
          x = next;
          n += 1;
      }
      n
  }

  #[kernel]
  fn mandelbrot(width: u32, height: u32, limit: u32, mut image: DisjointSlice<u8>) {
      let idx = thread::index_1d();
      let i = idx.get() as u32;
      if let Some(pixel) = image.get_mut(idx) {
          let cx = (i % width) as f32 / width as f32 * 3.0 - 2.25;
          let cy = (i / width) as f32 / height as f32 * 2.0 - 1.0;
          let n = escape(cx, cy, limit);
          *pixel = if n == limit { 0 } else { (255 - n * 255 / limit) as u8 };
      }
  }
]]

local path = arg and arg[1] or "mandelbrot.png"
local width, height = tonumber(arg and arg[2]) or 600, tonumber(arg and arg[3]) or 400
local image = gpu.zeros({height, width}, "u8")
k.mandelbrot(width, height, 200, image):sync()
assert(gpu.write_png(path, image))
print("wrote " .. path, image.shape[2] .. " x " .. image.shape[1])
