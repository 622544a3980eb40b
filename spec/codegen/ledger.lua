-- The ledger of shipped kernels: the hash of each one's PTX for its target, and what ptxas makes of it.
--     gpulua spec/codegen/ledger.lua PROGRAM [PTXAS]
-- With ptxas the kernels are assembled and compared with ledger.tsv (BLESS=1 writes it): no spill, no
-- local memory, no warning. Without it a hash that is not in the ledger fails; with another LLVM than the
-- ledger's nothing can be told, and the exit status is 77.
local here = arg[0]:match("^(.*)/[^/]*$")
package.path = here .. "/../bench/?.lua;" .. package.path
local program, ptxas = arg[1], arg[2]
local gemm, forms, attention = require "gemm_source", require "gemm_forms_source", require "attention_source"

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function read(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  return text, pipe:close()
end

-- A fourth field is the target; sm_90a without one.
local KERNELS = {
  { "gemm_bf16_large", gemm("plain", "k"), "T=bf16,O=bf16,BM=128,BN=256,BK=64" },
  { "gemm_bf16_cluster", gemm("plain", "k"), "T=bf16,O=bf16,BM=128,BN=256,BK=64,cluster=2" },
  { "gemm_bf16_small", gemm("plain", "k"), "T=bf16,O=bf16,BM=128,BN=64,BK=64" },
  { "gemm_tf32", gemm("transposed", "k"), "T=tf32,O=f32,BM=128,BN=256,BK=32" },
  { "gemm_f8e4m3fn", gemm("transposed", "k"), "T=f8e4m3fn,O=bf16,BM=128,BN=128,BK=128" },
  { "gemm_f8e4m3fn_columns", gemm("transposed", "k"), "T=f8e4m3fn,O=bf16,BM=128,BN=256,BK=128" },
  { "gemm_f8e4m3fn_rows", gemm("transposed", "k"), "T=f8e4m3fn,O=bf16,BM=256,BN=128,BK=128" },
  { "gemm_bias_gelu", forms.bias_gelu, "BM=128,BN=256,BK=64" },
  { "attention_full_d128", attention.source("full", "k"), "BM=128,N=16,D=128" },
  { "attention_full_d128_cluster", attention.source("full", "k"), "BM=128,N=16,D=128,cluster=2" },
  { "attention_capped_d128", attention.source("capped", "k"), "BM=128,N=16,D=128" },
  { "attention_bounded_d128", attention.source("bounded", "k"), "BM=128,N=16,D=128" },
  { "attention_causal_d128", attention.source("causal", "k"), "BM=128,N=16,D=128" },
  { "attention_full_d64", attention.source("full", "k"), "BM=128,N=16,D=64" },
  { "attention_causal_d64", attention.source("causal", "k"), "BM=128,N=16,D=64" },
  { "attention_full_d64_long", attention.source("full", "k"), "BM=128,N=32,D=64" },
  { "attention_full_d64_wide", attention.source("full", "k"), "BM=256,N=8,D=64,cluster=2" },
  { "gemm_bf16_sm80", gemm("plain", "k"), "T=bf16,O=bf16,BM=128,BN=128,BK=32", "sm_80" },
  { "gemm_tf32_sm80", gemm("transposed", "k"), "T=tf32,O=f32,BM=128,BN=128,BK=32", "sm_80" },
  { "attention_full_d128_sm80", attention.source("full", "k"), "BM=128,N=8,D=128", "sm_80" },
  { "attention_causal_d64_sm80", attention.source("causal", "k"), "BM=128,N=8,D=64", "sm_80" },
  { "gemm_bf16_sm86", gemm("plain", "k"), "T=bf16,O=bf16,BM=128,BN=128,BK=32", "sm_86" },
  { "gemm_tf32_sm86", gemm("transposed", "k"), "T=tf32,O=f32,BM=128,BN=128,BK=32", "sm_86" },
  { "attention_full_d128_sm86", attention.source("full", "k"), "BM=128,N=8,D=128", "sm_86" },
  { "attention_causal_d64_sm86", attention.source("causal", "k"), "BM=128,N=8,D=64", "sm_86" },
  { "gemm_bf16_sm90", gemm("plain", "k"), "T=bf16,O=bf16,BM=128,BN=128,BK=32", "sm_90" },
  { "gemm_tf32_sm90", gemm("transposed", "k"), "T=tf32,O=f32,BM=128,BN=128,BK=32", "sm_90" },
  { "attention_full_d128_sm90", attention.source("full", "k"), "BM=128,N=8,D=128", "sm_90" },
  { "attention_causal_d64_sm90", attention.source("causal", "k"), "BM=128,N=8,D=64", "sm_90" },
}

local folder = read("mktemp -d"):match("%S+")

local function emit(source, with, target)
  local file = assert(io.open(folder .. "/k.rs", "w"))
  file:write(source)
  file:close()
  local ptx, ok = read(("cd %s && %s emit --stage ptx --target %s --with %s k.rs >k.ptx && sha256sum k.ptx")
    :format(folder, quote(program), target, quote(with)))
  if not ok then error("no PTX: " .. ptx, 0) end
  return ptx:match("^%x+")
end

-- Registers, bytes of stack and of spills, and warnings.
local function assemble(target)
  local said = read(("cd %s && %s -arch=%s -v -o k.cubin k.ptx 2>&1"):format(folder, quote(ptxas), target))
  local spills, stack, warnings = 0, 0, 0
  for bytes in said:gmatch("(%d+) bytes spill") do spills = spills + math.tointeger(bytes) end
  for bytes in said:gmatch("(%d+) bytes stack frame") do stack = stack + math.tointeger(bytes) end
  for line in said:gmatch("[^\n]+") do
    if line:find("C75") or line:lower():find("warning") or line:lower():find("error") then warnings = warnings + 1 end
  end
  return ("%s\t%d\t%d\t%d"):format(said:match("Used (%d+) registers") or "?", stack, spills, warnings)
end

local llvm = read(quote(program) .. " doctor 2>/dev/null"):match("llvm%s+(%S+)")
local HEAD = "# LLVM " .. llvm .. "; kernel, sha256 of the PTX, registers, stack, spilled bytes, warnings"
local path = here .. "/ledger.tsv"
local known, head = {}, nil
local old = io.open(path)
if old then
  head = old:read("l")
  for line in old:lines() do
    local name, rest = line:match("^(%S+)\t(.*)$")
    known[name] = rest
  end
  old:close()
end

local has_ptxas = ptxas and select(2, read("command -v " .. quote(ptxas)))
if not has_ptxas and head ~= HEAD then
  print("skipped: the ledger is " .. tostring(head) .. ", this LLVM is " .. llvm .. ", and there is no ptxas")
  os.exit(77)
end
local lines, failures = { HEAD }, 0
local function fail(name, why)
  failures = failures + 1
  print(("FAILED %s: %s"):format(name, why))
end
for _, kernel in ipairs(KERNELS) do
  local name, target = kernel[1], kernel[4] or "sm_90a"
  local hash = emit(kernel[2], kernel[3], target)
  if has_ptxas then
    local row = hash .. "\t" .. assemble(target)
    lines[#lines + 1] = name .. "\t" .. row
    if not row:find("\t0\t0\t0$") then fail(name, "stack, spills or warnings: " .. row) end
    if known[name] ~= row and not os.getenv("BLESS") then fail(name, "the ledger has " .. tostring(known[name]) .. ", not " .. row) end
  elseif not (known[name] or ""):find("^" .. hash) then
    fail(name, hash .. " is not in the ledger")
  end
end
os.execute("rm -rf " .. quote(folder))
if has_ptxas and os.getenv("BLESS") then
  local file = assert(io.open(path, "w"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
end
print(("%d kernels, %d failures"):format(#KERNELS, failures))
os.exit(failures == 0)
