-- Other kernels that are products too: the same with other names in another order, with a bias and gelu
-- behind the sum, with transposed inputs, with a depth that no tile divides. Each against the plain one,
-- per operation: none may lose more than 5 %.
-- Options: --n SIZE, --tile 128x256x64.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"
local matrix = require "matrix"
local source, forms_source = require "gemm_source", require "gemm_forms_source"

local kernels = gpu.kernels(table.concat {
  source("plain", "plain"), source("first_transposed", "first_transposed"), source("transposed", "second_transposed"),
  forms_source.renamed, forms_source.bias_gelu,
}, "gemm_forms.lua")

local TOLERANCE = 2 ^ -8
local TILES = { { 128, 256, 64 }, { 256, 128, 64 }, { 128, 128, 64 }, { 64, 64, 64 } }

local function candidates()
  local given = bench.options.tile
  if not given then return TILES end
  local m, n, depth = given:match("^(%d+)x(%d+)x(%d+)$")
  return { { math.tointeger(m), math.tointeger(n), math.tointeger(depth) } }
end

local function gelu(x)
  local t = math.exp(2 * math.max(-20, math.min(20, 0.7978845608 * (x + 0.044715 * x ^ 3))))
  return 0.5 * x * (1 + (t - 1) / (t + 1))
end

bench.main("gemm_forms", function()
  gpu.seed(7)
  local n = bench.option("n", 4096)
  local a, b = table.unpack(matrix.normal(2, { n, n }, "bf16"))
  local odd = n + 40 -- rows stay multiples of 16 bytes
  local wide, tall = matrix.normal(1, { n, odd }, "bf16")[1], matrix.normal(1, { odd, n }, "bf16")[1]
  local bias, c = bench.normal({ n }, 4194301, "f32"), gpu.empty({ n, n }, "bf16")

  local arms = {}
  for i, tile in ipairs(candidates()) do
    local plain, part = kernels.plain:with { BK = tile[3] }, c:tiles { tile[1], tile[2] }
    arms[i] = { table.concat(tile, "x"), function() plain:run(part, a, b) end, tile = tile, part = part }
  end
  local best, tried = bench.choose(arms)
  local tile, part = best.tile, best.part
  local function fixed(name) return kernels[name]:with { BK = tile[3] } end
  local renamed = kernels.renamed:with { R = tile[3] }
  local plain, biased = fixed "plain", fixed "bias_gelu"
  local first, second = fixed "first_transposed", fixed "second_transposed"
  local function product(left, right, transposed)
    return function() matrix.check(c, left, right, transposed or {}, TOLERANCE) end
  end
  -- {name, call, check, operations per those of the plain one}
  local forms = {
    { "plain", function() plain:run(part, a, b) end, product(a, b), 1 },
    { "renamed", function() renamed:run(b, a, part) end, product(a, b), 1 },
    { "bias_gelu", function() biased:run(part, a, b, bias) end, function()
      local biases = bias:to_table()
      matrix.check_samples(c, a, b, {}, TOLERANCE, function(sum, j) return gelu(sum + biases[j]) end)
    end, 1 },
    { "first_transposed", function() first:run(part, a, b) end, product(a, b, { a = true }), 1 },
    { "second_transposed", function() second:run(part, a, b) end, product(a, b, { b = true }), 1 },
    { "odd_depth", function() plain:run(part, wide, tall) end, product(wide, tall), odd / n },
  }
  local timed = {}
  for i, form in ipairs(forms) do
    c:fill(0 / 0)
    form[2]()
    local ok, err = pcall(form[3])
    if not ok then error(form[1] .. ": " .. tostring(err), 0) end
    timed[i] = { form[1], function(count) return bench.batch(form[2], count) end }
  end
  local r = bench.sustain(timed)
  for i = 2, #forms do
    local name, work = forms[i][1], forms[i][4]
    bench.emit({
      row = "gemm_form_" .. name, n = n, tile = best[1], tried = i == 2 and tried or nil,
      value = 2 * n ^ 3 * work / r[name].median * 1e-12, unit = "TFLOP/s", values = r[name].values,
      ratio = r.plain.median / r[name].median * work, peer = "the plain kernel",
      peer_value = 2 * n ^ 3 / r.plain.median * 1e-12,
    }, { 0.95, 0.98, "higher" })
  end
end)
