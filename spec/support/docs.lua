-- Writes the documentation that follows from tables: docs/api.md and the table of operations in
-- docs/ops.md and the declarations in docs/std.md. Run as `gpulua spec/support/docs.lua` from the root; `--check` only compares.
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

-- What kernels can call: the declarations of dsl/std without what only the compiler reads.
local function language()
  local out = { [[
# The kernel language's built-in crates

Made from `dsl/std`; do not edit. Kernels are Rust (edition 2024) over these declarations. Tile kernels
see `cutile::core`, SIMT kernels `cuda_device`, both the listed part of `core`, without a `use`.
Functions of one element each (`exp`, `sin`, ..) are in [ops.md](ops.md): `math` ones are functions of
tiles, and methods of floats (`x.exp()`).
]] }
  for _, crate in ipairs { "cutile", "cuda_device", "core" } do
    out[#out + 1] = ("\n## %s\n\n```rust\n"):format(crate)
    local file = assert(io.open(("dsl/std/%s.rs"):format(crate)))
    local blank = true
    for line in file:lines() do
      local keep = not line:match "^%s*#%[" and not line:match "^//" and not line:match "macro_rules!"
      if keep and not (blank and line == "") then out[#out + 1] = line .. "\n" end
      if keep then blank = line == "" end
    end
    file:close()
    out[#out + 1] = "```\n"
  end
  return table.concat(out)
end

local failed = false
for path, text in pairs { ["docs/api.md"] = api, ["docs/ops.md"] = ops(), ["docs/std.md"] = language() } do
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
