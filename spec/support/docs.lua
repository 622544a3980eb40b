-- Writes the documentation that follows from tables: docs/api.md and the table of operations in
-- docs/ops.md. Run as `gpulua spec/support/docs.lua` from the root; `--check` only compares.
local gpu = require "gpulua"

local api = [[
# The Lua API

Made from the documentation beside each function (`gpu.help()` prints it); do not edit.
`local gpu = require "gpulua"`. Lua counts from 1 and its ranges are inclusive; kernels count from 0.
Mistakes raise an error object; failures of the environment return `nil, err`.

]] .. gpu.help()

local function ops()
  local out = { [[
# Operations of the kernel IR

Made from `dsl/ir/op.def`; do not edit. `surface` says how a kernel reaches an operation: `math`,
as a function of tiles and a method of floats; `tile`, as a function of tiles; `method`, as a method;
`none`, through operators, loads, stores and control flow.

| op | signature | element types | surface | meaning |
|---|---|---|---|---|
]] }
  for _, op in ipairs(gpu.ops()) do
    out[#out + 1] = ("| `%s` | `%s` | %s | %s | %s |\n"):format(op.name, (op.signature:gsub("|", "\\|")),
      table.concat(op.dtypes, " "), op.surface, op.doc)
  end
  return table.concat(out)
end

local failed = false
for path, text in pairs { ["docs/api.md"] = api, ["docs/ops.md"] = ops() } do
  if arg[1] == "--check" then
    local file = io.open(path)
    local have = file and file:read "a"
    if file then file:close() end
    if have ~= text then
      io.stderr:write(path, " is not what the tables say; run gpulua spec/support/docs.lua\n")
      failed = true
    end
  else
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
  end
end
os.exit(not failed)
