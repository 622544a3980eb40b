-- The kernels of examples/, on random data of every size, against plain Lua and the interpreter;
-- each with one operator changed must be noticed.
local gpu = require "gpulua"
local formats = require "formats"

local F32 = formats.of.f32

local function kernels_of(h, name)
  local file = assert(io.open(h.folder .. "/../../examples/" .. name .. ".lua"))
  local text = file:read("a")
  file:close()
  return assert(text:match("gpu%.kernels %[%[\n(.-)%]%]"), name .. " has no kernels")
end

-- The values of a tensor of f32.
local function values(t) return t:reshape { t.numel }:to_table() end

local function fma(a, b, c)
  local arith = require "arith"
  return formats.round(F32, arith.float.fma(F32, a, b, c))
end
local function add(a, b) return formats.round(F32, a + b) end

-- file, kernel, whether it is a tile kernel, launch(kernel, x, y, z), reference(x, y, z) of one
-- element, and the change.
local CASES = {
  { "add", "add", function(k, x, y, z) k(z:tiles { 128 }, x, y):sync() end, function(x, y) return add(x, y) end, { "tx %+ ty", "tx - ty" } },
  { "vecadd", "vecadd", function(k, x, y, z) k(x, y, z):sync() end, function(x, y) return add(x, y) end, { "a%[i%] %+ b%[i%]", "a[i] * b[i]" } },
  { "saxpy", "saxpy_tile", function(k, x, _, z) k(z:tiles { 1024 }, 2.5, x):sync() end, function(x, _, z) return fma(2.5, x, z) end, { "tx %+ ty", "tx - ty" } },
  { "saxpy", "saxpy_simt", function(k, x, _, z) k(2.5, x, z):sync() end, function(x, _, z) return fma(2.5, x, z) end, { "x%[i%] %+", "x[i] -" } },
}

local function check_element_kernel(h, case)
  local text = kernels_of(h, case[1])
  local changed, count = text:gsub(case[5][1], case[5][2])
  assert(count == 1, "one operator is changed")
  local right, wrong = gpu.kernels(text, case[1])[case[2]], gpu.kernels(changed, case[1])[case[2]]
  for _, n in ipairs { 1, 7, 1000, 1025, h.has_large and h.LARGE or nil } do
    local x, y, z = gpu.randn { n }, gpu.randn { n }, gpu.randn { n }
    local was, mutant = z:copy(), z:copy()
    case[3](right, x, y, z)
    case[3](wrong, x, y, mutant)
    local got, changed_bytes = z:to_bytes(), mutant:to_bytes()
    -- All of a small one, and every 997th of a large one.
    local step = n > 2000 and 997 or 1
    local is_right, differs = true, false
    for i = 1, n, step do
      local want = formats.encode(F32, case[4](x[i], y[i], was[i]))
      is_right = is_right and formats.code_at(F32, got, i) == want
      differs = differs or formats.code_at(F32, changed_bytes, i) ~= want
    end
    h.check(is_right, "%s of %d elements", case[2], n)
    h.mutant(not differs, case[2])
    -- The same launch by the interpreter, byte by byte.
    if h.device.kind ~= "interp" and n < 2000 then
      local ix, iy, iz = assert(x:to "interp"), y:to "interp", was:to "interp"
      case[3](right, ix, iy, iz)
      h.check(iz:to_bytes() == got, "%s of %d elements: the interpreter differs", case[2], n)
    end
  end
end

-- The Mandelbrot kernel in Lua, with f32 after every operation; contraction as the IR's pass has it
-- shows as a difference, so the image is compared with the interpreter's and, where no rounding
-- matters, with this.
local function check_mandelbrot(h)
  local text = kernels_of(h, "mandelbrot")
  local right = gpu.kernels(text, "mandelbrot").mandelbrot
  local wrong = gpu.kernels((text:gsub("x %* x %- y %* y", "x * x + y * y")), "mandelbrot").mandelbrot
  local width, height = 60, 40
  local image, mutant = gpu.zeros({ height, width }, "u8"), gpu.zeros({ height, width }, "u8")
  right(width, height, 50, image):sync()
  wrong(width, height, 50, mutant):sync()
  local got, other, near, differs = values(image), values(mutant), 0, false
  local function pixel(i, j)
    local cx, cy = i / width * 3.0 - 2.25, j / height * 2.0 - 1.0
    local x, y, n = 0.0, 0.0, 0
    while n < 50 and x * x + y * y <= 4.0 do x, y, n = x * x - y * y + cx, 2.0 * x * y + cy, n + 1 end
    return n == 50 and 0 or 255 - n * 255 // 50
  end
  for j = 0, height - 1 do
    for i = 0, width - 1 do
      local at = j * width + i + 1
      if got[at] ~= pixel(i, j) then near = near + 1 end
      differs = differs or got[at] ~= other[at]
    end
  end
  -- Double and f32 disagree at a few points of the border.
  h.check(near <= width * height // 100, "%d of %d pixels are not those of double", near, width * height)
  h.mutant(not differs, "mandelbrot")
  if h.device.kind ~= "interp" then
    local theirs = assert(gpu.zeros({ height, width }, "u8"):to "interp")
    right(width, height, 50, theirs):sync()
    h.check(theirs:to_bytes() == image:to_bytes(), "mandelbrot: the interpreter differs")
  end
end

return function(h)
  for _, case in ipairs(CASES) do
    h.group("example." .. case[2], function() check_element_kernel(h, case) end)
  end
  h.group("example.mandelbrot", function() check_mandelbrot(h) end)
end
