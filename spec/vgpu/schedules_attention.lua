-- Products of products, as in attention: masks, tiles that are kept, read beside them or found by a table, for schedules.lua.
local gpu = require "gpulua"

return function(shared)
  local check, check_cluster, check_piped, each_schedule, fail, is_virtual, k, placed, product, small_numbers, split_bytes,
    transpose, wants_cluster, SM =
    shared.check, shared.check_cluster, shared.check_piped, shared.each_schedule, shared.fail, shared.is_virtual,
    shared.k, shared.placed, shared.product, shared.small_numbers, shared.split_bytes, shared.transpose,
    shared.wants_cluster, shared.SM

  local function capped(s)
    local t = math.exp(2 * s)
    return 3 * (t - 1) / (t + 1)
  end

  local function attended(q, keys, v, scale, is_causal, is_capped, bias)
    local out = {}
    for i = 1, #q do
      local weights, sum, most = {}, 0, -math.huge
      local seen = is_causal and i or #keys
      for j = 1, seen do
        local s = 0
        for d = 1, #q[i] do s = s + q[i][d] * keys[j][d] end
        s = (is_capped and capped(s * scale) or s * scale) + (bias and bias[i][j] or 0)
        weights[j], most = s, math.max(most, s)
      end
      out[i] = {}
      for j = 1, seen do
        weights[j] = 2 ^ (weights[j] - most)
        sum = sum + weights[j]
      end
      for d = 1, #v[1] do
        local s = 0
        for j = 1, seen do s = s + weights[j] * v[j][d] end
        out[i][d] = s / sum
      end
    end
    return out
  end

  -- Where masks are left out: by window and length, in tiles that are square and are not.
  for _, case in ipairs { { 128, 64, 100, 320 }, { 64, 128, 70, 250 }, { 64, 64, 1000, 256 }, { 192, 64, 90, 300 } } do
    local bm, bn, window, length = table.unpack(case)
    local rows, depth = 256, 64
    local q, key, v = small_numbers(rows, depth, 0), small_numbers(320, depth, 2), small_numbers(320, depth, 5)
    local tq, tk, tv = gpu.from_table(q, "bf16"), gpu.from_table(key, "bf16"), gpu.from_table(v, "bf16")
    local wanted = {}
    for i = 1, rows do
      local first, last = math.max(1, i - window + 1), math.min(i, length)
      local function part(t) return table.move(t, first, last, 1, {}) end
      wanted[i] = attended({ q[i] }, part(key), part(v), 1 / 64)[1]
    end
    for form = 0, 3 do
      each_schedule(("seen %d %dx%d"):format(form, bm, bn), { {}, { persistent = true }, { stages = 2 } }, function(title, schedule)
        local o = gpu.zeros { rows, depth }
        k.seen:with { BN = bn, FORM = form }:with(schedule)(o:tiles { bm, depth }, tq, tk, tv, 1 / 64, window, length):sync()
        check(title, o:to_table(), wanted, 2 ^ -6)
      end)
    end
  end

  do
    local lengths, depth, q, key, v, wanted = { 100, 0, 192 }, 64, {}, {}, {}, {}
    for h, length in ipairs(lengths) do
      key[h], v[h] = small_numbers(192, depth, h), small_numbers(192, depth, h + 3)
      q[h], wanted[h] = {}, {}
      for i = 1, 256 do
        q[h][i], wanted[h][i] = {}, {}
        local at = i * 5 % depth + 1
        for d = 1, depth do
          q[h][i][d] = d == at and 1 or 0
          local sum = 0
          for j = 1, length do sum = sum + key[h][j][at] * v[h][j][d] end
          wanted[h][i][d] = sum
        end
      end
    end
    local tq, tk, tv = gpu.from_table(q, "bf16"), gpu.from_table(key, "bf16"), gpu.from_table(v, "bf16")
    local tl = gpu.from_table(lengths, "i32")
    for _, bm in ipairs { 64, 128 } do
      each_schedule("heads " .. bm, { {}, { persistent = true }, { persistent = false }, { stages = 2 } }, function(title, schedule)
        local o, f = gpu.full({ 3, 256, depth }, 0 / 0), k.heads:with { BN = 64 }:with(schedule)
        f(o:tiles { 3, bm, depth }, tq, tk, tv, tl):sync()
        for h, got in ipairs(o:to_table()) do check(title, got, wanted[h], 0) end
        check_piped(title, schedule, f:info(o:tiles { 3, bm, depth }, tq, tk, tv, tl))
      end)
    end
  end

  -- First operands that are loaded once stay in registers where they fit and are 16 bits wide, but not what comes with a second
  -- one. The smallest tile of keys is half as large as what tiles lie apart.
  for _, case in ipairs {
    { 64, 16, 16, 184, "bf16" }, { 64, 32, 80, 184, "f16" }, { 128, 16, 64, 248, "bf16" }, { 256, 16, 32, 264, "f16", 16 }, { 192, 16, 64, 392, "bf16" }, { 64, 16, 32, 120, "tf32" },
  } do
    local bm, bn, depth, rows, dtype, warps = table.unpack(case)
    local q, key, parts = small_numbers(rows, depth, 1), small_numbers(3 * bn - 8, depth, 4), {}
    for j = 0, 2 do
      local part = table.move(key, j * bn + 1, math.min((j + 1) * bn, #key), 1, {})
      while #part < bn do part[#part + 1] = small_numbers(1, 0, 0)[1] end
      for d = 1, depth do
        for _, row in ipairs(part) do row[d] = row[d] or 0 end
      end
      parts[j] = product(q, part)
    end
    local wanted = { {}, {}, {}, {} }
    for r = 1, rows do
      local i = (r - 1) // bm
      for _, w in ipairs(wanted) do w[r] = {} end
      for col = 1, bn do
        local function part(j, row) return parts[j][row or r][col] end
        local twice = part(0) + part(1) + part(2)
        for j = 0, i - 1 do twice = 2 * twice + part(j) end
        local beside, around = 0, 0
        for j = 0, 2 do
          beside = 2 * beside + part(0) + part(j, r - (i - i // 2) * bm)
          local row = r - (i - math.min(j, i)) * bm
          if j <= i then around = around + part(0, row) + part(1, row) + part(2, row) end
          for l = 1, j <= i and i - 1 or 0 do around = 2 * around + part(l, row) end
        end
        wanted[1][r][col], wanted[2][r][col], wanted[3][r][col], wanted[4][r][col] = twice, twice, around, beside
      end
    end
    local first, second = gpu.from_table(q, dtype), gpu.from_table(key, dtype)
    for form = dtype == "tf32" and 1 or 0, 3 do
      local given = form > 0 and first or placed(transpose(q), dtype, 0)
      each_schedule(("held %d %s %dx%dx%d"):format(form, dtype, bm, bn, depth), { {}, { persistent = false, stages = 2 } }, function(title, schedule)
        local f = k.held:with { D = depth, FORM = form, warps = warps }:with(schedule)
        local c = gpu.zeros { rows, bn }
        f(c:tiles { bm, bn }, given, second):sync()
        check(title, c:to_table(), wanted[form + 1], 0)
        if not is_virtual or SM ~= 90 then return end
        check_piped(title, schedule, f:info(c:tiles { bm, bn }, given, second))
        local reads = f:inspect "ptx":match "ldmatrix[%w.]*"
        local is_right = (reads ~= nil) == (dtype ~= "tf32" and form < 3) and (not reads or (reads:find "trans" ~= nil) == (form == 0))
        if not is_right then fail("%s: reads by %s", title, reads) end
      end)
    end
  end

  local ATTENTION_SCHEDULES = {
    {}, { persistent = true }, { stages = 2 }, { warps = 4 }, { cluster = 1 }, { cluster = 2 }, { cluster = 2, persistent = true }, { cluster = 2, stages = 2 },
    { warps = 16 },
  }

  for _, case in ipairs {
    { 128, 256, 64, 64, 64, "attention" }, { 128, 192, 96, 64, 64, "attention" }, { 64, 128, 32, 64, 64, "attention" }, { 128, 128, 80, 128, 64, "attention" }, { 256, 128, 128, 128, 64, "attention" }, { 128, 384, 64, 128, 64, "attention" },
    { 192, 192, 64, 64, 64, "attention" }, { 256, 256, 64, 128, 64, "attention", true }, { 256, 256, 64, 128, 64, "masked", true },
    { 256, 384, 64, 128, 64, "attention", false, true }, { 512, 192, 64, 256, 64, "attention" }, { 256, 256, 64, 256, 64, "masked", true },
  } do
    local rows, keys, depth, bm, bn, kernel, is_causal, is_capped = table.unpack(case)
    local q, key, v = small_numbers(rows, depth, 0), small_numbers(keys, depth, 2), small_numbers(keys, depth, 5)
    local scale = 1 / 64
    local wanted = attended(q, key, v, scale, is_causal, is_capped)
    local name = (is_causal and "causal " or is_capped and "capped " or "") .. kernel
    local form = { BN = bn }
    if kernel == "attention" then form.CAUSAL, form.CAPPED = is_causal or false, is_capped or false end
    local function attend(suffix, tq, tk, tv)
      local title = ("%s %dx%dx%d%s"):format(name, rows, keys, depth, suffix)
      each_schedule(title, ATTENTION_SCHEDULES, function(full, schedule)
        local o = gpu.zeros { rows, depth }
        local f = k[kernel]:with(form):with(schedule)
        f(o:tiles { bm, depth }, tq, tk, tv, scale):sync()
        check(full, o:to_table(), wanted, 2 ^ -6)
        local is_granted = suffix == "" and not is_causal and wants_cluster(schedule, bm, split_bytes(tk, 1, depth) > 0)
        check_cluster(full, f:info(o:tiles { bm, depth }, tq, tk, tv, scale), is_granted and 2 or 1)
      end)
    end
    attend("", gpu.from_table(q, "bf16"), gpu.from_table(key, "bf16"), gpu.from_table(v, "bf16"))
    attend(", 4 columns off", placed(q, "bf16", 4), placed(key, "bf16", 4), placed(v, "bf16", 4))
  end

  -- Tiles that are read beside products: as deep as the ring or not, of elements of one to four bytes, at edges, used twice.
  for _, case in ipairs {
    { 128, 256, 128, 64, "bf16" }, { 128, 192, 64, 64, "bf16", true }, { 200, 192, 128, 64, "f32" }, { 256, 256, 128, 128, "f32", true },
    { 128, 160, 128, 32, "i8" }, { 192, 192, 192, 64, "f16" }, { 256, 192, 256, 64, "bf16" }, { 128, 256, 128, 64, "u8", true },
  } do
    local rows, keys, bm, bn, dtype, again = table.unpack(case)
    local q, key, v, bias = small_numbers(rows, 64, 0), small_numbers(keys, 64, 2), small_numbers(keys, 64, 5), small_numbers(rows, keys, 3)
    local sums = {}
    for i, row in ipairs(bias) do
      sums[i] = 0
      for j = 1, keys do
        row[j] = dtype == "u8" and row[j] + 3 or row[j]
        sums[i] = sums[i] + (again and row[j] or 0)
      end
    end
    local wanted = attended(q, key, v, 1 / 64, false, false, bias)
    for i, row in ipairs(wanted) do for d = 1, 64 do row[d] = row[d] + sums[i] end end
    local tq, tk, tv = gpu.from_table(q, "bf16"), gpu.from_table(key, "bf16"), gpu.from_table(v, "bf16")
    local tb = gpu.from_table({ bias, bias }, dtype)
    each_schedule(("biased %dx%d by %s%s"):format(rows, keys, dtype, again and ", again" or ""), ATTENTION_SCHEDULES, function(title, schedule)
      local o = gpu.full({ rows, 64 }, 0 / 0)
      k.biased:with { BN = bn, AGAIN = again or false }:with(schedule)(o:tiles { bm, 64 }, tq, tk, tv, tb, 1 / 64):sync()
      check(title, o:to_table(), wanted, 2 ^ -6)
    end)
  end

  do
    local a, b, pages = small_numbers(128, 128, 1), small_numbers(128, 64, 6), { 3, 0, 0, 2, 3, 1, 1 }
    local ta, tb, table_of = gpu.from_table(a, "bf16"), gpu.from_table(b, "bf16"), {}
    for i, page in ipairs(pages) do table_of[i] = { 9, page } end
    local tt, across, wanted = gpu.from_table(table_of, "i32"), transpose(b), {}
    for i, row in ipairs(a) do
      wanted[i] = {}
      for j, column in ipairs(across) do
        local sum = 0
        for _, page in ipairs(pages) do
          for l = 32 * page + 1, 32 * page + 32 do sum = sum + row[l] * column[l] end
        end
        wanted[i][j] = sum
      end
    end
    for _, bm in ipairs { 1, 4, 16, 24, 128 } do
      each_schedule("paged " .. bm, { {}, { stages = 2 }, { stages = 4 }, { persistent = false }, { stages = 1 } }, function(title, schedule)
        local c = gpu.full({ 128, 64 }, 0 / 0)
        k.paged:with { BK = 32 }:with(schedule)(c:tiles { bm, 64 }, ta, tb, tt):sync()
        check(title, c:to_table(), wanted, 0)
      end)
    end
  end

  do
    local rows, depth = 9 * 64, 64
    local q, key, v = {}, small_numbers(192, depth, 2), small_numbers(192, depth, 5)
    for i = 1, rows do
      q[i] = {}
      for j = 1, depth do q[i][j] = j == i * 5 % depth + 1 and 1 or 0 end
    end
    local tq, tk, tv = gpu.from_table(q, "bf16"), gpu.from_table(key, "bf16"), gpu.from_table(v, "bf16")
    local wanted = {}
    for i = 1, rows do
      wanted[i] = {}
      for d = 1, depth do
        local s = 1
        for j = 1, (i - 1) // 64 % 4 * 64 do s = s + (j > 128 and 0.5 or 1) * key[j][i * 5 % depth + 1] * v[j][d] end
        wanted[i][d] = s
      end
    end
    each_schedule("uneven", { {}, { persistent = true }, { persistent = false }, { stages = 2 } }, function(title, schedule)
      local o = gpu.full({ rows, depth }, 0 / 0)
      k.uneven:with { BN = 64 }:with(schedule)(o:tiles { 64, depth }, tq, tk, tv):sync()
      check(title, o:to_table(), wanted, 0)
    end)

    for i, row in ipairs(wanted) do
      local at = i * 5 % depth + 1
      for d = 1, depth do
        local sum = 0
        for c = 1, 64 do
          local first, second, third = key[c][at], key[c + 64][at], key[c + 128][at]
          sum = sum + (third + 0.5 * (first + second)) * v[c][d] + 2 * second * v[c + 64][d] + 2 * third * v[c + 128][d]
        end
        row[d] = sum
      end
    end
    each_schedule("deep", { {}, { persistent = false }, { stages = 2 } }, function(title, schedule)
      local o = gpu.zeros { rows, depth }
      k.deep:with { BN = 64 }:with(schedule)(o:tiles { 64, depth }, tq, tk, tv, 3, 1):sync()
      check(title, o:to_table(), wanted, 0)
    end)
  end
end
