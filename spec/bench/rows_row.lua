-- Rows of kernels that read and write a matrix of bf16 once, row by row, at the three shapes of
-- bars.md; the peer is the fastest of Triton's warp counts.
local bench = require "bench"
local gpu = require "gpulua"
local measure = require "variants"

local SHAPES = { { 16384, 4096 }, { 4096, 16384 }, { 32768, 1024 } }
local WARPS = { 4, 8, 16 }

-- The forms to try: rows of a tile, warps, stages.
local FORMS = {
  [1024] = { { 1, 1 }, { 1, 2 }, { 1, 4 }, { 2, 2 }, { 4, 4 }, { 8, 8 }, { 1, 1, 2 }, { 1, 2, 2 } },
  [4096] = { { 1, 4 }, { 1, 8 }, { 2, 8 }, { 1, 16 }, { 1, 4, 2 }, { 1, 8, 2 } },
  [16384] = { { 1, 8 }, { 1, 16 }, { 1, 32 }, { 1, 8, 2 }, { 1, 16, 2 }, { 1, 16, 3 } },
}

-- name; source: kernels `run` (z, x, ..) and `check` (z, x, .., bad: a flag for each row);
-- weights: the kernels have an input of one element a column.
return function(spec)
  local kernels = gpu.kernels(spec.source, spec.name)
  for _, shape in ipairs(SHAPES) do
    local rows, columns = shape[1] // bench.option("part", 1), shape[2]
    local x, z = gpu.randn({ rows, columns }, "bf16"), gpu.empty({ rows, columns }, "bf16")
    local w = spec.weights and gpu.randn({ columns }, "bf16") or nil
    local bad = gpu.empty({ rows }, "u8")
    local variants = {}
    for _, form in ipairs(FORMS[columns]) do
      local run, part = kernels.run:with { warps = form[2], stages = form[3] }, z:tiles { form[1], columns }
      local launch = w and function() run(part, x, w):run() end or function() run(part, x):run() end
      variants[#variants + 1] = { table.concat(form, "x"), launch }
    end
    local peers = {}
    for i, warps in ipairs(WARPS) do
      peers[i] = { "triton_" .. warps, "triton_" .. spec.name, rows, columns, warps }
    end
    peers[#peers + 1] = { "torch", "torch_" .. spec.name, rows, columns }
    measure {
      row = ("%s_bf16_%dx%d"):format(spec.name, rows, columns), bar = { 0.97, 1.08, "higher" },
      bytes = 4 * rows * columns, variants = variants, peers = peers,
      poison = function() z:fill(0 / 0) end,
      check = function()
        bad:fill(1)
        if w then kernels.check(z:view { rows * columns }, x:view { rows * columns }, w, bad):sync()
        else kernels.check(z:view { rows * columns }, x:view { rows * columns }, bad):sync() end
        bench.check_flags(bad)
      end,
    }
    x:free()
    z:free()
  end
end
