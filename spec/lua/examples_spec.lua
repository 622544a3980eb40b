-- Every file of examples/ runs, and prints and writes what it says.
local sh = require "spec.support.sh"

local program = sh.build() .. "/gpulua"
program = program:sub(1, 1) == "/" and program or sh.root .. "/" .. program
local device = os.getenv "GPULUA_DEVICE" or "cpu"

local function run(name, arguments)
  return sh.check(("GPULUA_DEVICE=%s %s examples/%s.lua %s"):format(device, sh.quote(program), name, arguments or ""))
end

-- ---- A reader of PNG: enough for one grey image of 8 bits ---------------------------------------

local function read_bits(data)
  local at, bit = 3, 0 -- after zlib's header
  local function bits(n)
    local v = 0
    for i = 0, n - 1 do
      v = v | (data:byte(at) >> bit & 1) << i
      bit = bit + 1
      if bit == 8 then at, bit = at + 1, 0 end
    end
    return v
  end
  local function align() if bit > 0 then at, bit = at + 1, 0 end end
  local function bytes(n)
    local s = data:sub(at, at + n - 1)
    at = at + n
    return s
  end
  return bits, align, bytes
end

-- A canonical Huffman code (RFC 1951, 3.2.2): a function that reads one symbol.
local function huffman(lengths, bits)
  local counts, codes, code = {}, {}, 0
  for i = 0, 15 do counts[i] = 0 end
  for _, pair in ipairs(lengths) do counts[pair[2]] = counts[pair[2]] + 1 end
  counts[0] = 0
  local first = {}
  for length = 1, 15 do
    code = (code + counts[length - 1]) << 1
    first[length] = code
  end
  for _, pair in ipairs(lengths) do
    local symbol, length = pair[1], pair[2]
    if length > 0 then
      codes[length << 16 | first[length]] = symbol
      first[length] = first[length] + 1
    end
  end
  return function()
    local v = 0
    for length = 1, 15 do
      v = v << 1 | bits(1)
      local symbol = codes[length << 16 | v]
      if symbol then return symbol end
    end
    error "no such code"
  end
end

local function fixed_tables(bits)
  local literal, distance = {}, {}
  for s = 0, 287 do literal[#literal + 1] = { s, s < 144 and 8 or s < 256 and 9 or s < 280 and 7 or 8 } end
  for s = 0, 29 do distance[#distance + 1] = { s, 5 } end
  return huffman(literal, bits), huffman(distance, bits)
end

local LENGTHS, LENGTH_BITS = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 },
  { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 }

-- Blocks that are stored or of the fixed code, which is what stb_image_write makes.
local function inflate(data)
  local bits, align, bytes = read_bits(data)
  local out = {}
  local is_last
  repeat
    is_last = bits(1) == 1
    local kind = bits(2)
    if kind == 0 then
      align()
      local length = string.unpack("<I2", bytes(4))
      for c in bytes(length):gmatch "." do out[#out + 1] = c:byte() end
    else
      assert(kind == 1, "only the fixed code is read")
      local literal, distance = fixed_tables(bits)
      while true do
        local symbol = literal()
        if symbol == 256 then break end
        if symbol < 256 then
          out[#out + 1] = symbol
        else
          local length = LENGTHS[symbol - 256] + bits(LENGTH_BITS[symbol - 256])
          local d = distance()
          local extra = d < 4 and 0 or d // 2 - 1
          local back = d < 4 and d + 1 or ((2 + d % 2) << extra) + 1
          back = back + bits(extra)
          for _ = 1, length do out[#out + 1] = out[#out + 1 - back] end
        end
      end
    end
  until is_last
  return out
end

local function paeth(a, b, c)
  local p = a + b - c
  local pa, pb, pc = math.abs(p - a), math.abs(p - b), math.abs(p - c)
  if pa <= pb and pa <= pc then return a end
  return pb <= pc and b or c
end

-- width, height and the pixels of a grey image, row by row.
local function read_png(path)
  local text = assert(sh.read(path))
  assert(text:sub(1, 8) == "\137PNG\r\n\26\n", "no PNG")
  local at, data, width, height = 9, {}, nil, nil
  while at < #text do
    local length, kind = string.unpack(">I4c4", text, at)
    local body = text:sub(at + 8, at + 7 + length)
    if kind == "IHDR" then
      local depth, color
      width, height, depth, color = string.unpack(">I4I4BB", body)
      assert(depth == 8 and color == 0, "not grey of 8 bits")
    elseif kind == "IDAT" then
      data[#data + 1] = body
    end
    at = at + 12 + length
  end
  local raw, pixels, before = inflate(table.concat(data)), {}, {}
  for y = 0, height - 1 do
    local row, filter = {}, raw[y * (width + 1) + 1]
    for x = 1, width do
      local v, left, up, corner = raw[y * (width + 1) + 1 + x], row[x - 1] or 0, before[x] or 0, before[x - 1] or 0
      local guess = filter == 0 and 0 or filter == 1 and left or filter == 2 and up or
        filter == 3 and (left + up) // 2 or paeth(left, up, corner)
      row[x] = v + guess & 255
      pixels[y * width + x] = row[x]
    end
    before = row
  end
  return width, height, pixels
end

-- ---- f32 in Lua ----------------------------------------------------------------------------------

local function f32(v) return (string.unpack("<f", string.pack("<f", v))) end

-- a * b + c with one rounding, for the magnitudes of this image: the product is exact in double,
-- and the sum is rounded to odd before it is rounded to f32.
local function fma(a, b, c)
  local p = a * b
  local s = p + c
  local t = s - p
  local e = (p - (s - t)) + (c - t)
  if e ~= 0 then
    local bits = string.unpack("<i8", string.pack("<d", s))
    if bits & 1 == 0 then
      bits = bits + ((e > 0) == (s > 0) and 1 or -1)
      s = string.unpack("<d", string.pack("<i8", bits))
    end
  end
  return f32(s)
end

describe("example", function()
  it("add", function()
    assert.are.equal(("tensor{1024} f32 %s  [1, 2, 3, ..., 1023, 1024]\n"):format(device), run "add")
  end)

  it("vecadd", function()
    assert.are.equal(("tensor{1000} f32 %s  [0.5, 1.5, 2.5, ..., 998.5, 999.5]\n"):format(device), run "vecadd")
  end)

  it("saxpy", function()
    local first, second = run("saxpy"):match "^(tensor{1000003} f32 [^\n]*)\n(tensor[^\n]*)\n$"
    assert.is_string(first)
    assert.are.equal(first, second)
  end)

  -- Each compares its result with plain Lua and says so in its last line.
  for _, name in ipairs {
    "softmax", "rms_norm", "layer_norm_backward", "cross_entropy", "rope", "adamw", "argmax", "top_k", "histogram", "dropout", "embedding",
    "batch_matmul", "grouped_gemm", "quantized_gemm", "persistent_gemm", "flash_attention",
  } do
    it(name, function() assert.are.equal("as in Lua", run(name):match "([^\n]*)\n$") end)
  end

  it("borrow_errors", function()
    local output = run "borrow_errors"
    for _, code in ipairs { "E0502", "E0382", "G0302", "E0308" } do
      assert(output:find("error[" .. code .. "]", 1, true), code)
    end
    assert.is_nil(output:find("accepted", 1, true), output)
  end)

  -- The same pixels by a program of its own in Lua, with f32 after every operation.
  it("mandelbrot", function()
    local width, height, limit = 90, 60, 200
    local path = os.tmpname()
    assert.are.equal(("wrote %s\t%d x %d\n"):format(path, width, height), run("mandelbrot", ("%s %d %d"):format(path, width, height)))
    local w, h, pixels = read_png(path)
    os.remove(path)
    assert.are.same({ width, height }, { w, h })
    local wrong = {}
    for at = 0, width * height - 1 do
      local cx = fma(f32(f32(at % width) / f32(width)), 3.0, -2.25)
      local cy = fma(f32(f32(at // width) / f32(height)), 2.0, -1.0)
      local x, y, n = 0.0, 0.0, 0
      while n < limit and fma(x, x, f32(y * y)) <= 4.0 do
        local next_x = f32(fma(x, x, -f32(y * y)) + cx)
        y = fma(f32(2.0 * x), y, cy)
        x, n = next_x, n + 1
      end
      local want = n == limit and 0 or 255 - n * 255 // limit
      if pixels[at + 1] ~= want then wrong[#wrong + 1] = ("%d: %d, not %d"):format(at, pixels[at + 1], want) end
    end
    assert(#wrong <= width * height // 500, ("%d pixels differ, first %s"):format(#wrong, wrong[1]))
  end)
end)
