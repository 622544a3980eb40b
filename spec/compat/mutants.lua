-- Five mutants of each kernel of cutile-rs that is accepted (mutate.lua): each is refused, or computes what the
-- kernel computes.
--
--   GPULUA_CUTILE=CHECKOUT gpulua spec/compat/mutants.lua [--all] [--seed N] [FILTER]
--
-- A mutant that is accepted is shown equal by its IR, or by the interpreter on random inputs that are made for the
-- kernel as it was: one that no longer takes them is refused at the launch. With --all, every place of each kind is
-- changed, one at a time. Prints the mutants that are accepted, and totals; exits 1 when one differs. Without a
-- checkout, says so and does nothing.
local folder = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = folder .. "/?.lua;" .. package.path

local gpu = require "gpulua"
local cut = require "cut"
local launch = require "launch"
local mutate = require "mutate"
local rows = require "rows"

local root = os.getenv "GPULUA_CUTILE"
if not root then
  print "skipped: GPULUA_CUTILE names no checkout of cutile-rs"
  os.exit(0)
end
local is_all, filter
local at = 1
while arg[at] do
  if arg[at] == "--all" then
    is_all = true
  elseif arg[at] == "--seed" then
    at = at + 1
    launch.seed = assert(math.tointeger(arg[at]), "--seed wants a number")
  else
    filter = arg[at]
  end
  at = at + 1
end
assert(gpu.device "interp")

-- The kernel's IR for some generics, and the kernel; nil and the error when it is refused.
local function compile(source, row, generics)
  local module, err = gpu.try_kernels(source, row.module)
  if not module then return nil, err end
  local ok, ir = pcall(function() return module[row.entry]:with(generics):inspect("ir", "cpu") end)
  if not ok then return nil, ir end
  return ir, module[row.entry]
end

-- IR without what a change of the text alone changes: the places of checks.
local function bare(ir) return (ir:gsub('" %d+ %d+\n', '"\n')) end

-- What becomes of a mutant: "refused", "at launch", "equal", "different" or "unknown"; and why.
local function judge(original, text, row)
  local ir, kernel = compile(text, row, original.generics)
  if not ir then return "refused" end
  if bare(ir) == bare(original.ir) then return "equal", "same IR" end
  if not original.is_run then
    original.is_run = true
    original.result, original.why = launch.run(original.kernel, original.entry.params, original.generics)
  end
  if not original.result then return "unknown", original.why end
  local result, why = launch.run(kernel, original.entry.params, original.generics)
  if not result then return "at launch", why end
  return result == original.result and "equal" or "different", "by the interpreter"
end

local function find_entry(source, name)
  for _, m in ipairs(cut.modules(source)) do
    for _, entry in ipairs(cut.entries(source, m)) do
      if entry.name == name then return entry end
    end
  end
end

local VERDICTS = { "refused", "at launch", "equal", "different", "unknown" }
local totals, wrong, kernels = {}, 0, 0
for _, kind in ipairs(mutate.kinds) do totals[kind] = {} end

local function check_kernel(row, id)
  local source = rows.source(root, row, function(name) return name == row.entry end)
  local original = { entry = find_entry(source, row.entry), generics = rows.instances(root, row)[1] }
  original.ir, original.kernel = compile(source, row, original.generics)
  if not original.ir then return end -- run.lua says so
  kernels = kernels + 1
  for _, mutant in ipairs(mutate.all(source, original.entry)) do
    if is_all or mutant.index == 1 then
      local verdict, why = judge(original, mutant.text, row)
      local count = totals[mutant.kind]
      count[verdict] = (count[verdict] or 0) + 1
      if verdict == "different" or verdict == "unknown" then wrong = wrong + 1 end
      if verdict ~= "refused" then
        print(("%-9s %-7s %s %s line %d: %s"):format(verdict, mutant.kind, row.file, id, mutant.line, why))
      end
    end
  end
end

for _, row in ipairs(rows.read(folder .. "/tile.tsv")) do
  local id = row.module .. "::" .. row.entry
  if row.entry ~= "-" and (not filter or (row.file .. " " .. id):find(filter, 1, true)) then check_kernel(row, id) end
end
for _, kind in ipairs(mutate.kinds) do
  local cells = {}
  for i, verdict in ipairs(VERDICTS) do cells[i] = ("%d %s"):format(totals[kind][verdict] or 0, verdict) end
  print(("%-7s %s"):format(kind, table.concat(cells, ", ")))
end
print(("%d kernels, %d mutants that are accepted and not shown equal"):format(kernels, wrong))
os.exit(wrong == 0, true)
