-- How much of cutile-rs the tile track accepts, kernel by kernel:
--
--   GPULUA_CUTILE=CHECKOUT gpulua spec/compat/run.lua [FILTER]
--
-- Each row of tile.tsv is an entry, the generics to instantiate it with and whether upstream takes it. An
-- entry is accepted when its module is checked, it is instantiated, its IR verified, machine code made for the
-- CPU, and PTX for sm_90a, which ptxas takes where there is one. Prints a line for each row, and totals.
-- Exits 1 when a verdict is not upstream's. Without a checkout, says so and does nothing.
local folder = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = folder .. "/?.lua;" .. package.path

local gpu = require "gpulua"
local rows = require "rows"

local root, filter = os.getenv "GPULUA_CUTILE", arg[1]
if not root then
  print "skipped: GPULUA_CUTILE names no checkout of cutile-rs"
  os.exit(0)
end

local function output_of(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  return pipe:close(), text
end

-- ---- One instance through the compiler ---------------------------------------------------------

local has_ptxas = output_of "command -v ptxas"
local ptx_path = os.tmpname()

local function assemble(ptx)
  if not has_ptxas then return end
  local file = assert(io.open(ptx_path, "w"))
  file:write(ptx)
  file:close()
  local is_ok, text = output_of(("ptxas -arch=sm_90a -o /dev/null %s"):format(ptx_path))
  if not is_ok or text:find "C75%d%d" then error("ptxas: " .. text, 0) end
end

-- What fails first: the stage, and the error.
local function first_failure(kernel, generics, is_cpu_only)
  local stages = {
    { "instantiate", function() kernel = kernel:with(generics) end },
    { "ir", function() kernel:inspect("ir", "cpu") end },
    { "cpu", function() kernel:inspect("asm", "cpu") end },
  }
  if not is_cpu_only then
    stages[4] = { "ptx", function() assemble(kernel:inspect("ptx", "sm_90a")) end }
  end
  for _, stage in ipairs(stages) do
    local ok, err = pcall(stage[2])
    if not ok then return stage[1], err end
  end
end

-- ---- Verdicts ------------------------------------------------------------------------------------

-- ptxas and the runner itself complain in strings.
local function code_of(err) return type(err) == "userdata" and err.code or "-" end

-- The line that says what is wrong, without the place.
local function title_of(err) return tostring(err):match "error[^\n]*" or tostring(err):match "[^\n]*" end

-- "accepted", or "refused" with the stage and the error. The other kernels of the module are left out, so that the
-- verdict is the kernel's own.
local function judge(row, source)
  local module, err = gpu.try_kernels(source, row.module)
  if not module then return "refused", "check", err end
  if row.entry == "-" then return "accepted" end
  for _, generics in ipairs(rows.instances(root, row)) do
    local stage
    stage, err = first_failure(module[row.entry], generics, row.class == "sm_100")
    if stage then return "refused", stage, err end
  end
  return "accepted"
end

local commit = select(2, output_of(("git -C '%s' rev-parse HEAD"):format(root))):match "^%x+" or "unknown"
print(("cutile-rs %s, %s"):format(commit, has_ptxas and "with ptxas" or "no ptxas"))
local totals = { accepted = 0, refused = 0, wrong = 0, exceptions = 0 }
local modules, wrong_modules = {}, 0
for _, row in ipairs(rows.read(folder .. "/tile.tsv")) do
  local id, key = row.module .. "::" .. row.entry, row.file .. " " .. row.module
  if not filter or (row.file .. " " .. id):find(filter, 1, true) then
    local source = rows.source(root, row, function(name) return name == row.entry end)
    local verdict, stage, err = judge(row, source)
    local is_right = rows.is_expected(row, verdict, code_of(err))
    if is_right and row.class == "unsafe" then
      -- what is asked of it is all that is missing
      local unsafe_verdict, unsafe_stage, unsafe_err = judge(row, rows.with_unsafe(source, row.entry))
      if unsafe_verdict ~= "accepted" then is_right, stage, err = false, "unsafe " .. unsafe_stage, unsafe_err end
    end
    totals[verdict] = totals[verdict] + 1
    if not is_right then totals.wrong = totals.wrong + 1 end
    local is_exception = rows.is_exception(row)
    if is_exception then totals.exceptions = totals.exceptions + 1 end
    if not modules[key] then
      modules[key] = { row = row, refused = {} }
      modules[#modules + 1] = modules[key]
    end
    local is_refused = is_right and stage == "check"
    modules[key].refused[row.entry] = is_refused
    modules[key].is_sound = modules[key].is_sound or not is_refused
    print(("%-5s %-8s %s %s%s%s"):format(is_right and "ok" or "WRONG", verdict, row.file, id,
      is_exception and " (exception: " .. row.class .. ")" or "",
      err and (" [%s] %s"):format(stage, title_of(err)) or ""))
  end
end
-- The modules as they stand, less the kernels that are refused as they must; those without another may be bad
-- in what all share.
for _, m in ipairs(modules) do
  local source = rows.source(root, m.row, function(name) return not m.refused[name] end)
  local module, err = gpu.try_kernels(source, m.row.module)
  if not module and m.is_sound then
    wrong_modules = wrong_modules + 1
    print(("WRONG refused  %s %s as a whole: %s"):format(m.row.file, m.row.module, title_of(err)))
  end
end
os.remove(ptx_path)

print(("%d rows: %d accepted, %d refused; %d not as expected; %d exceptions from upstream's verdicts"):format(
  totals.accepted + totals.refused, totals.accepted, totals.refused, totals.wrong, totals.exceptions))
print(("%d modules as they stand, less the kernels refused: %d refused"):format(#modules, wrong_modules))
os.exit(totals.wrong + wrong_modules == 0, true)
