-- Launches of the kernels of upstream's examples, and what they must give.
local EXAMPLES = "cutile-examples/examples/"

return function(gpu, t)
  local cases = {}
  local function case(row, name, entry, run, module)
    cases[#cases + 1] = { row = row, file = EXAMPLES .. name .. ".rs", module = module or "my_module", entry = entry, run = run }
  end

  case(1, "async_add", "add", function(k)
    local x, y, z = t.quarters { 1000 }, t.quarters { 1000 }, gpu.zeros { 1000 }
    k(z:tiles { 128 }, x, y):sync()
    local xs, ys = t.reader(x), t.reader(y)
    t.check(z, 0, function(i) return xs(i) + ys(i) end)
  end)

  case(2, "hello_world", "hello_world_kernel", function(_, source)
    local lines, want = t.printed(source, "hello_world_kernel", { 2, 3 }), {}
    for x = 0, 1 do
      for y = 0, 2 do
        want[#want + 1] = ("Hello, I am tile <%d, %d, 0> in a kernel with <2, 3, 1> tiles."):format(x, y)
      end
    end
    table.sort(lines)
    table.sort(want)
    assert(table.concat(lines, "\n") == table.concat(want, "\n"), "it printed:\n" .. table.concat(lines, "\n"))
  end, "hello_world_module")

  for _, name in ipairs { "saxpy", "async_saxpy" } do
    case(3, name, "saxpy", function(k)
      local x, y = t.quarters { 20, 33 }, t.quarters { 20, 33 }
      local xs, ys = t.reader(x), t.reader(y)
      k(y:tiles { 8, 16 }, 2.5, x):sync()
      t.check(y, 0, function(i, j) return 2.5 * xs(i, j) + ys(i, j) end)
    end)
  end

  case(5, "softmax", "softmax", function(k)
    local x, y = gpu.randn { 8, 64 }, gpu.empty { 8, 64 }
    k(y:tiles { 4, 64 }, x):sync()
    local xs, sums = t.reader(x), {}
    for i = 0, 7 do
      sums[i] = 0
      for j = 0, 63 do sums[i] = sums[i] + math.exp(xs(i, j)) end
    end
    t.check(y, 1e-6, function(i, j) return math.exp(xs(i, j)) / sums[i] end)
  end)

  -- What is kept is the random number: so the kernel is written upstream.
  case(6, "dropout", "dropout", function(k)
    local x, keep, z = t.quarters { 500 }, gpu.rand { 500 }, gpu.empty { 500 }
    k(0.25, x, keep, z:tiles { 128 }):sync()
    local ks = t.reader(keep)
    t.check(z, 1e-6, function(i) return ks(i) > 0.25 and ks(i) / 0.75 or 0 end)
  end)

  -- A product of matrices added to what c holds.
  local function product(m, n, depth, dtype, result, launch)
    local a, b, c = t.quarters({ m, depth }, dtype), t.quarters({ depth, n }, dtype), t.quarters({ m, n }, result)
    local as, bs, cs = t.reader(a), t.reader(b), t.reader(c)
    launch(c, a, b)
    t.check(c, 0, function(i, j)
      local sum = cs(i, j)
      for l = 0, depth - 1 do sum = sum + as(i, l) * bs(l, j) end
      return sum
    end)
  end
  case(7, "gemm_static", "gemm", function(k)
    product(64, 32, 48, "f32", "f32", function(c, a, b) k:with { BK = 16 }(c:tiles { 32, 16 }, a, b):sync() end)
  end)
  case(7, "gemm", "gemm", function(k)
    product(50, 40, 48, "f32", "f32", function(c, a, b) k:with { BK = 16 }(c:tiles { 32, 16 }, a, b):sync() end)
  end)
  case(7, "async_gemm", "gemm", function(k)
    product(50, 40, 48, "f16", "f32", function(c, a, b) k:with { BK = 16 }(c:tiles { 32, 16 }, a, b):sync() end)
  end)
  case(7, "batch_matmul", "batch_matmul", function(k)
    local a, b, c = t.quarters { 3, 20, 32 }, t.quarters { 3, 32, 24 }, gpu.empty { 3, 20, 24 }
    k:with { BK = 16 }(c:tiles { 1, 16, 16 }, a, b):sync()
    local as, bs = t.reader(a), t.reader(b)
    t.check(c, 0, function(p, i, j)
      local sum = 0
      for l = 0, 31 do sum = sum + as(p, i, l) * bs(p, l, j) end
      return sum
    end)
  end)

  case(8, "rms_norm", "rms_norm", function(k)
    local x, w, z = gpu.randn { 10, 128 }, gpu.randn { 128 }, gpu.empty { 10, 128 }
    k:with { BLOCK_SIZE = 32 }(x, w, z:tiles { 1, 128 }, 0x1p-17):sync()
    local xs, ws = t.reader(x), t.reader(w)
    t.check(z, 1e-5, function(i, j)
      local sum = 0
      for l = 0, 127 do sum = sum + xs(i, l) ^ 2 end
      return xs(i, j) / math.sqrt(sum / 128 + 0x1p-17) * ws(j)
    end)
  end)

  case(11, "scale_ptr", "scale_ptr", function(k)
    local x, z = t.quarters { 1000 }, gpu.zeros { 1000 }
    k:with { grid = { 3 } }(z, x, 2.5, 900):sync()
    local xs = t.reader(x)
    t.check(z, 0, function(i) return i < 900 and 2.5 * xs(i) or 0 end)
  end)

  -- Softmax of scores over the keys that `sees` lets, times the values.
  local function attend(q, key, v, scale, group, sees)
    local qs, ks, vs = t.reader(q), t.reader(key), t.reader(v)
    local _, heads, _, dim = table.unpack(q.shape)
    local keys, rows = key.shape[3], {}
    return function(bh, i, d)
      local b, h, id = bh // heads, bh % heads, bh * 1000000 + i
      local kv = h // group
      if not rows[id] then
        local weights, greatest, sum = {}, -math.huge, 0
        for j = 0, keys - 1 do
          local s = 0
          for e = 0, dim - 1 do s = s + qs(b, h, i, e) * ks(b, kv, j, e) end
          weights[j] = sees(i, j) and s * scale or -math.huge
          greatest = math.max(greatest, weights[j])
        end
        for j = 0, keys - 1 do
          weights[j] = math.exp(weights[j] - greatest)
          sum = sum + weights[j]
        end
        weights.sum = sum
        rows[id] = weights
      end
      local out = 0
      for j = 0, keys - 1 do out = out + rows[id][j] * vs(b, kv, j, d) end
      return out / rows[id].sum
    end
  end
  local function attention(name, length, with, scalars, sees)
    case(12, name, "fmha", function(k)
      local q, o = gpu.randn { 2, 4, length, 16 }, gpu.empty { 8, length, 16 }
      local key, v = gpu.randn { 2, 2, length, 16 }, gpu.randn { 2, 2, length, 16 }
      k:with(with)(o:tiles { 1, 16, 16 }, q, key, v, 0.25, table.unpack(scalars)):sync()
      t.check(o, 1e-5, attend(q, key, v, 0.25, 2, sees))
    end)
  end
  attention("flash_attention", 32, { BN = 16 }, { 2 }, function() return true end)
  attention("flash_attention_causal", 32, { BN = 16, H = 4, CAUSAL = 1, EVEN_K = 1 }, { 0, 2 },
    function(i, j) return j <= i end)
  attention("flash_attention_causal", 40, { BN = 16, H = 4, CAUSAL = 1, EVEN_K = 0 }, { 0, 2 },
    function(i, j) return j <= i end)
  attention("flash_attention_causal", 40, { BN = 16, H = 4, CAUSAL = 0, EVEN_K = 0 }, { 0, 2 },
    function() return true end)

  case(13, "persistent_gemm", "gemm_persistent", function(k)
    local a, b, c = t.quarters { 50, 40 }, t.quarters { 40, 70 }, gpu.empty { 50, 70 }
    local as, bs = t.reader(a), t.reader(b)
    for _, map in ipairs { { 1, 1 }, { 4, 1 }, { 2, 2 } } do
      k:with { BK = 8 }(c:fill(0):tiles { 16, 16 }:map(map, 4), a, b):sync()
      t.check(c, 0, function(i, j)
        local sum = 0
        for l = 0, 39 do sum = sum + as(i, l) * bs(l, j) end
        return sum
      end)
    end
  end, "persistent_gemm_kernels")
  return cases
end
