-- Conversions between all element types: rounding, saturation, NaN, infinities, wrapping.
local gpu = require "gpulua"
local formats = require "formats"
local matrix = require "matrix"

-- What Rust's `as` refuses; a tile's conversion is a function and takes every pair.
local function refusal(track, from, to)
  if track == "tile" or from == to then return nil end
  if to.class == "bool" then return "E0054" end
  if from.class == "bool" and to.class == "float" then return "E0606" end
end

local function texts(h, from, to, module)
  local tracks = {}
  for _, track in ipairs { "tile", "simt" } do
    local expression = track == "tile" and ("convert_tile::<%s>(a)"):format(to) or ("a as %s"):format(to)
    local text = h.elementwise(track, ("%s_%s_%s"):format(track, from, to), expression, 1, from, to)
    local code = refusal(track, formats.of[from], formats.of[to])
    if code then
      local made, err = gpu.try_kernels(text, "case")
      h.check(not made and err.code == code, "%s as %s is refused with %s, not %s", from, to, err and err.code, code)
    else
      tracks[#tracks + 1] = track
      module[#module + 1] = text
    end
  end
  return tracks
end

local function check_pair(h, module, tracks, from, to, codes)
  local f, r, expected = formats.of[from], formats.of[to], {}
  for i, code in ipairs(codes) do expected[i] = formats.encode(r, formats.cast(f, formats.decode(f, code), r)) end
  local data = formats.pack(f, codes)
  for _, track in ipairs(tracks) do
    local what, kernel = ("%s as %s, %s"):format(from, to, track), module[("%s_%s_%s"):format(track, from, to)]
    for _, n in ipairs { 7, h.PERIOD } do
      local got = h.launch(track, kernel, { h.tensor(from, data:sub(1, n * f.size)) }, to, n)
      local is_right, wrong = h.compare(to, got, expected, 0, n)
      h.check(is_right, "%s, %d elements: %s", what, n, wrong)
    end
    if from ~= to then matrix.covers(h, kernel, from, "cast") end
  end
end

-- Values around every border that a conversion has.
local function border_codes(h, from)
  local f = formats.of[from]
  local codes = formats.data(f, h.PERIOD, h.seed_of("cast", from))
  if f.class ~= "float" then return codes end
  local at = 8
  for _, bits in ipairs { 7, 8, 15, 16, 31, 32, 63, 64 } do
    for _, offset in ipairs { -1, -0.5, 0, 0.5, 1 } do
      for _, sign in ipairs { 1, -1 } do
        codes[at] = formats.encode(f, sign * (2.0 ^ bits + offset))
        at = at + 1
      end
    end
  end
  for _, v in ipairs { 65504, 65519.9, 65520, 65536, 448, 464, 480, 57344, 61440, 3.3895e38, 2.0 ^ -24, 2.0 ^ -25, 1.5 * 2.0 ^ -25 } do
    codes[at], codes[at + 1] = formats.encode(f, v), formats.encode(f, -v)
    at = at + 2
  end
  return codes
end

return function(h)
  for _, from in ipairs(formats.list) do
    h.group("cast." .. from, function()
      local text, tracks = {}, {}
      for _, to in ipairs(formats.list) do tracks[to] = texts(h, from, to, text) end
      local codes = border_codes(h, from)
      local module = gpu.kernels(table.concat(text), "cast." .. from)
      for _, to in ipairs(formats.list) do check_pair(h, module, tracks[to], from, to, codes) end
      -- The wrong conversion: of another type of the same size as f32 or i32.
      local source = from == "f32" and "i32" or "f32"
      local expected, f = {}, formats.of[source]
      local other = formats.data(f, h.PERIOD, h.seed_of("cast", source))
      for i, code in ipairs(other) do
        expected[i] = formats.encode(formats.of.f64, formats.cast(f, formats.decode(f, code), formats.of.f64))
      end
      if formats.of[from].size == 4 and from ~= "tf32" then
        local got = h.launch("tile", module["tile_" .. from .. "_f64"], { h.tensor(from, formats.pack(f, other)) }, "f64", h.PERIOD)
        h.mutant(h.compare("f64", got, expected, 0), "cast from " .. from)
      end
    end)
  end
end
