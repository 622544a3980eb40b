-- Launches of the kernels of upstream's inference library and of its creation of tensors, and what they must give.
local KERNELS, CORE = "cutile-kernels/src/", "cutile/src/kernels/_"

return function(gpu, t)
  local cases = {}
  local function case(row, file, entry, run)
    cases[#cases + 1] = { row = row, file = KERNELS .. file .. ".rs", module = entry .. "_module", entry = entry, run = run }
  end
  local function creation(file, module, entry, run)
    cases[#cases + 1] = { row = 4, file = CORE .. file .. ".rs", module = module, entry = entry, run = run }
  end

  creation("creation", "creation", "full", function(k)
    for _, dtype in ipairs { "f32", "f16", "i32", "u8" } do
      local z = gpu.zeros({ 100 }, dtype)
      k(7, z:tiles { 32 }):sync()
      t.check(z, 0, function() return 7 end)
    end
  end)
  creation("creation", "creation", "arange", function(k)
    for _, dtype in ipairs { "f32", "f16", "i32", "i64" } do
      local z = gpu.zeros({ 100 }, dtype)
      k(z:tiles { 32 }):sync()
      t.check(z, 0, function(i) return i end)
    end
  end)
  creation("creation", "creation", "linspace", function(k)
    local z = gpu.zeros { 100 }
    k(z:tiles { 32 }, -3, 0.25):sync()
    t.check(z, 0, function(i) return -3 + i * 0.25 end)
  end)
  creation("creation", "creation", "eye", function(k)
    local z = gpu.zeros { 20, 30 }
    k(z:tiles { 8, 16 }):sync()
    t.check(z, 0, function(i, j) return i == j and 1 or 0 end)
  end)
  creation("conversion", "conversion", "convert", function(k)
    local x = t.quarters { 100 }
    local xs = t.reader(x)
    for dtype, want in pairs { f16 = xs, f64 = xs, i32 = function(i) return math.tointeger(xs(i) // 1 + (xs(i) < 0 and xs(i) % 1 > 0 and 1 or 0)) end } do
      local z = gpu.zeros({ 100 }, dtype)
      k(x, z:tiles { 32 }):sync()
      t.check(z, 0, want)
    end
  end)

  case(6, "pointwise", "add_2d_f16", function(k)
    local x, y, z = t.quarters({ 10, 100 }, "f16"), t.quarters({ 10, 100 }, "f16"), gpu.zeros({ 10, 100 }, "f16")
    k(z:tiles { 1, 32 }, x, y):sync()
    local xs, ys = t.reader(x), t.reader(y)
    t.check(z, 0, function(i, j) return xs(i, j) + ys(i, j) end)
  end)
  case(6, "pointwise", "silu_mul_2d_f16", function(k)
    local x, y, z = t.quarters({ 10, 100 }, "f16"), t.quarters({ 10, 100 }, "f16"), gpu.zeros({ 10, 100 }, "f16")
    k(z:tiles { 1, 32 }, x, y):sync()
    local xs, ys = t.reader(x), t.reader(y)
    t.check(z, 1e-3, function(i, j) return xs(i, j) / (1 + math.exp(-xs(i, j))) * ys(i, j) end)
  end)
  case(6, "pointwise", "gather_row_f16", function(k)
    local x, z = t.quarters({ 10, 100 }, "f16"), gpu.zeros({ 100 }, "f16")
    k(x, z:tiles { 32 }, 7):sync()
    local xs = t.reader(x)
    t.check(z, 0, function(j) return xs(7, j) end)
  end)

  local EPS, N = 0x1p-17, 64
  -- 1 / rms of N values
  local function inverse_rms(at)
    local sum = 0
    for j = 0, N - 1 do sum = sum + at(j) ^ 2 end
    return 1 / math.sqrt(sum / N + EPS)
  end
  case(8, "norms", "rms_norm_f16", function(k)
    local x, w, z = t.quarters({ 10, N }, "f16"), t.quarters({ N }, "f16"), gpu.zeros({ 10, N }, "f16")
    k:with { BLOCK_SIZE = 16 }(x, w, z:tiles { 1, N }, EPS):sync()
    local xs, ws = t.reader(x), t.reader(w)
    t.check(z, 1e-3, function(i, j) return xs(i, j) * inverse_rms(function(l) return xs(i, l) end) * ws(j) end)
  end)
  case(8, "norms", "add_rms_norm_f16", function(k)
    local r, x, w = t.quarters({ 10, N }, "f16"), t.quarters({ 10, N }, "f16"), t.quarters({ N }, "f16")
    local z, s = gpu.zeros({ 10, N }, "f16"), gpu.zeros({ 10, N }, "f16")
    k:with { BLOCK_SIZE = 16 }(r, x, w, z:tiles { 1, N }, s:tiles { 1, N }, EPS):sync()
    local rs, xs, ws = t.reader(r), t.reader(x), t.reader(w)
    local function sum(i, j) return rs(i, j) + xs(i, j) end
    t.check(s, 0, sum)
    t.check(z, 1e-3, function(i, j) return sum(i, j) * inverse_rms(function(l) return sum(i, l) end) * ws(j) end)
  end)
  case(8, "norms", "qk_norm_f16", function(k)
    local q, key, z = t.quarters({ 6, N }, "f16"), t.quarters({ 4, N }, "f16"), gpu.zeros({ 10, N }, "f16")
    local wq, wk = t.quarters({ N }, "f16"), t.quarters({ N }, "f16")
    k:with { BLOCK_SIZE = 16 }(q, key, wq, wk, z:tiles { 1, N }, EPS, 6):sync()
    local qs, ks, wqs, wks = t.reader(q), t.reader(key), t.reader(wq), t.reader(wk)
    t.check(z, 1e-3, function(i, j)
      local function at(l) if i < 6 then return qs(i, l) end return ks(i - 6, l) end
      return at(j) * inverse_rms(at) * (i < 6 and wqs or wks)(j)
    end)
  end)

  case(9, "embeddings", "embedding_batch_f16", function(k)
    local table_, ids, z = t.quarters({ 30, 64 }, "f16"), {}, gpu.zeros({ 20, 64 }, "f16")
    for i = 1, 20 do ids[i] = math.random(0, 29) end
    k(gpu.from_table(ids, "u32"), table_, z:tiles { 1, 32 }):sync()
    local ts = t.reader(table_)
    t.check(z, 0, function(i, j) return ts(ids[i + 1], j) end)
  end)
  -- The first greatest of blocks of `size`, of at(i) for i below n.
  local function block_greatest(at, n, size)
    local values, places = {}, {}
    for block = 0, (n + size - 1) // size - 1 do
      values[block] = -math.huge
      for i = block * size, math.min(n, (block + 1) * size) - 1 do
        if at(i) > values[block] then values[block], places[block] = at(i), i end
      end
    end
    return function(b) return values[b] end, function(b) return places[b] end
  end
  case(9, "argmax", "argmax_blocks_f16", function(k)
    local x = t.quarters({ 150 }, "f16")
    local values, places = gpu.zeros { 3 }, gpu.zeros({ 3 }, "u32")
    k:with { BLOCK_SIZE = 64 }(x, values:tiles { 1 }, places:tiles { 1 }, 150):sync()
    local v, p = block_greatest(t.reader(x), 150, 64)
    t.check(values, 0, v)
    t.check(places, 0, p)
  end)
  case(9, "argmax", "lm_head_argmax_blocks_f16", function(k)
    local w, hidden = t.quarters({ 100, 64 }, "f16"), t.quarters({ 1, 64 }, "f16")
    local values, places = gpu.zeros { 2 }, gpu.zeros({ 2 }, "u32")
    k(w, hidden, values:tiles { 1 }, places:tiles { 1 }, 100):sync()
    local ws, hs = t.reader(w), t.reader(hidden)
    local v, p = block_greatest(function(i)
      local sum = 0
      for l = 0, 63 do sum = sum + ws(i, l) * hs(0, l) end
      return sum
    end, 100, 64)
    t.check(values, 0, v)
    t.check(places, 0, p)
  end)
  case(9, "argmax", "argmax_reduce_blocks_to_u32", function(k)
    local values, places, z = t.quarters { 20 }, gpu.arange(100, 120, 1, "u32"), gpu.zeros({ 1 }, "u32")
    k:with { BLOCK_SIZE = 32 }(values, places, z:tiles { 1 }, 20):sync()
    local _, p = block_greatest(t.reader(values), 20, 20)
    t.check(z, 0, function() return 100 + p(0) end)
  end)

  -- Pairs of the halves of a head are turned by the position times a frequency.
  local D, HALF = 32, 16
  local function turned(at, frequency, position)
    return function(j)
      local theta = position * frequency(j % HALF)
      local lo, hi = at(j % HALF), at(j % HALF + HALF)
      if j < HALF then return lo * math.cos(theta) - hi * math.sin(theta) end
      return hi * math.cos(theta) + lo * math.sin(theta)
    end
  end
  local function frequencies()
    local values = {}
    for j = 1, HALF do values[j] = 2 ^ -j end
    return gpu.from_table(values, "f32"), function(j) return values[j + 1] end
  end
  case(10, "positional", "rope_seq_f16", function(k)
    local x, z = t.quarters({ 5, 3, D }, "f16"), gpu.zeros({ 5, 3, D }, "f16")
    local f, frequency = frequencies()
    k(x, f, z:tiles { 1, 1, HALF }, 11):sync()
    local xs = t.reader(x)
    t.check(z, 2e-3, function(s, h, j) return turned(function(l) return xs(s, h, l) end, frequency, 11 + s)(j) end)
  end)
  case(10, "positional", "rope_seq_dynpos_f16", function(k)
    local x, z = t.quarters({ 5, 3, D }, "f16"), gpu.zeros({ 5, 3, D }, "f16")
    local f, frequency = frequencies()
    k(x, f, gpu.from_table({ 11 }, "u32"), z:tiles { 1, 1, HALF }):sync()
    local xs = t.reader(x)
    t.check(z, 2e-3, function(s, h, j) return turned(function(l) return xs(s, h, l) end, frequency, 11 + s)(j) end)
  end)
  case(10, "positional", "qk_rope_dynpos_f16", function(k)
    local q, key, z = t.quarters({ 5, 3, D }, "f16"), t.quarters({ 5, 2, D }, "f16"), gpu.zeros({ 5, 5, D }, "f16")
    local f, frequency = frequencies()
    k:with { LATENCY = 2 }(q, key, f, gpu.from_table({ 11 }, "u32"), z:tiles { 1, 1, HALF }, 3):sync()
    local qs, ks = t.reader(q), t.reader(key)
    t.check(z, 2e-3, function(s, h, j)
      local function at(l) if h < 3 then return qs(s, h, l) end return ks(s, h - 3, l) end
      return turned(at, frequency, 11 + s)(j)
    end)
  end)
  local function check_cache(cache, new, first, count)
    local ns = t.reader(new)
    t.check(cache, 0, function(h, s, j)
      return s >= first and s < first + count and ns(s - first, h, j) or 9
    end)
  end
  case(10, "kv_cache", "kv_cache_update_seq_f16", function(k)
    local nk, nv = t.quarters({ 10, 3, D }, "f16"), t.quarters({ 10, 3, D }, "f16")
    local ck, cv = gpu.full({ 3, 16, D }, 9, "f16"), gpu.full({ 3, 16, D }, 9, "f16")
    k(nk, nv, ck:tiles { 1, 8, 16 }, cv:tiles { 1, 8, 16 }, 0, 10):sync()
    check_cache(ck, nk, 0, 10)
    check_cache(cv, nv, 0, 10)
  end)
  case(10, "kv_cache", "kv_cache_update_seq_dynpos_f16", function(k)
    local nk, nv = t.quarters({ 5, 3, D }, "f16"), t.quarters({ 5, 3, D }, "f16")
    local ck, cv = gpu.full({ 3, 16, D }, 9, "f16"), gpu.full({ 3, 16, D }, 9, "f16")
    k(nk, nv, ck:tiles { 1, 16, 16 }, cv:tiles { 1, 16, 16 }, gpu.from_table({ 7 }, "u32"), 5):sync()
    check_cache(ck, nk, 7, 5)
    check_cache(cv, nv, 7, 5)
  end)
  return cases
end
