-- Every elementwise operation, on every element type that it takes, on both tracks.
local gpu = require "gpulua"
local formats = require "formats"
local arith = require "arith"
local bounds = require "bounds"
local rows = require "ops"
local matrix = require "matrix"

local TRACKS = { "tile", "simt" }
local F64_UNKNOWN = { sinh = true, cosh = true, tanh = true, tanh_approx = true, rsqrt = true } -- the vectors of MPFR judge these

-- What an operation takes, by name, from the program's own table.
local by_name = {}
for _, op in ipairs(gpu.ops()) do by_name[op.name] = op end

local function operand_codes(h, row, dtype)
  local f, codes = formats.of[dtype], {}
  for i = 1, row.arity do
    codes[i] = formats.data(f, h.PERIOD, h.seed_of(dtype, i))
    if i == 2 and row.divisor and f.class ~= "float" then
      for k, code in ipairs(codes[i]) do codes[i][k] = code == 0 and 3 or code end
    end
  end
  -- Equal operands and swapped signs, so that comparisons and bounds see both sides.
  if row.arity > 1 then
    for k = 5, h.PERIOD, 11 do
      if not (row.divisor and codes[1][k] == 0) then codes[2][k] = codes[1][k] end
    end
  end
  return codes
end

local function expected_codes(h, row, dtype, to, codes)
  local f, expected = formats.of[dtype], {}
  local is_unknown = dtype == "f64" and F64_UNKNOWN[row.op]
  for i = 1, h.PERIOD do
    expected[i] = not is_unknown and arith.result(row.reference or row.op, row.pred, f, formats.of[to], codes[1][i],
      codes[2] and codes[2][i], codes[3] and codes[3][i]) or false
  end
  return expected
end

-- Sizes up to a period against the reference, and a large one against repetitions of the period; of
-- operations under another name the period says enough.
local function check_sizes(h, row, what, sizes, track, kernel, data, dtype, to, expected, ulps, allow)
  local f, r, last = formats.of[dtype], formats.of[to], nil
  for _, n in ipairs(sizes) do
    local operands = {}
    for i, bytes in ipairs(data) do operands[i] = h.tensor(dtype, bytes:sub(1, n * f.size)) end
    last = h.launch(track, kernel, operands, to, n)
    local is_right, wrong, worst = h.compare(to, last, expected, ulps, n, allow)
    h.check(is_right, "%s, %d elements: %s", what, n, wrong)
    if ulps then h.note_ulps(row.op, to, worst) end
    if not is_right then return last end
  end
  if h.has_large and not row.bound then
    local operands = {}
    for i, bytes in ipairs(data) do operands[i] = h.large(dtype, i, bytes) end
    local got = h.launch(track, kernel, operands, to, h.LARGE)
    -- A function's error at a value is the same wherever the value stands.
    local period = (ulps or allow) and last or h.patched(to, last, expected)
    local is_right, wrong = h.same(to, got, h.repeated(r, period, h.LARGE))
    h.check(is_right, "%s, %d elements: %s", what, h.LARGE, wrong)
  end
  return last
end

local function check_refusal(h, row, track, dtype)
  matrix.refused(h, row.op, dtype, h.elementwise(track, "f", row[track], row.arity, dtype, row.result or dtype),
    rows.refusal(row, track, dtype))
end

-- The types that a row has no operation on are told so.
local function check_refusals(h, row, types)
  local takes = {}
  for _, dtype in ipairs(types) do takes[dtype] = true end
  for _, track in ipairs(TRACKS) do
    for _, dtype in ipairs(row[track] and formats.list or {}) do
      local is_refused = row.refuse and row.refuse[track] and row.refuse[track][dtype]
      local is_other = row.other and row.other[track] and row.other[track][dtype]
      if is_refused or not (takes[dtype] or is_other) then check_refusal(h, row, track, dtype) end
    end
  end
end

-- One type of each class has a mutant: compiling it for all of them would tell nothing more.
local HAS_MUTANT = { f32 = true, f16 = true, i32 = true, u64 = true, u16 = true, bool = true }

local function check_type(h, row, dtype)
  local has_mutant = HAS_MUTANT[dtype] or row.types and #row.types == 1
  local to, text, tracks = row.result or dtype, {}, {}
  for t, track in ipairs(TRACKS) do
    local refused = row.refuse and row.refuse[track] and row.refuse[track][dtype]
    if row[track] and not refused then
      tracks[#tracks + 1] = track
      text[#text + 1] = h.elementwise(track, track, row[track], row.arity, dtype, to)
      if has_mutant then
        text[#text + 1] = h.elementwise(track, track .. "_mutant", row.mutant[t], row.arity, dtype, to)
      end
    end
  end
  if #tracks == 0 then return end
  local module = gpu.kernels(table.concat(text), row.name .. "." .. dtype)
  local f, codes = formats.of[dtype], operand_codes(h, row, dtype)
  local expected, data = expected_codes(h, row, dtype, to, codes), {}
  for i = 1, row.arity do data[i] = formats.pack(f, codes[i]) end
  local ulps = row.ulps and bounds.of(row.ulps, dtype)
  local allow = bounds.allowance(h.math, row.op, dtype, codes[2])
  for _, track in ipairs(tracks) do
    local what = ("%s %s %s"):format(row.name, dtype, track)
    check_sizes(h, row, what, h.SIZES, track, module[track], data, dtype, to, expected, ulps, allow)
    if has_mutant then
      local operands, n = {}, h.SIZES[#h.SIZES]
      for i, bytes in ipairs(data) do operands[i] = h.tensor(dtype, bytes:sub(1, n * f.size)) end
      local got = h.launch(track, module[track .. "_mutant"], operands, to, n)
      h.mutant(h.compare(to, got, expected, ulps, n), what)
    end
    if row.only and row.only ~= dtype then
      matrix.becomes(h, module[track], dtype, row.op, row.instead)
    else
      matrix.covers(h, module[track], dtype, track == "simt" and row.simt_op or row.op)
    end
    -- Elements come and go through loads and stores of the track.
    if track == "tile" then
      matrix.covers(h, module[track], dtype, "load_tile")
      matrix.covers(h, module[track], to, "store_tile")
    else
      matrix.covers(h, module[track], dtype, "load", "ptr_add")
      matrix.covers(h, module[track], to, "store")
    end
  end
end

return function(h)
  for _, row in ipairs(rows) do
    h.group("op." .. row.name, function()
      local types = row.types or by_name[row.op].dtypes
      if not row.types or row.bound then check_refusals(h, row, types) end
      for _, dtype in ipairs(types) do
        local ok, err = pcall(check_type, h, row, dtype)
        if not ok then h.check(false, "%s %s: %s", row.name, dtype, tostring(err)) end
      end
    end)
  end
end
