-- Writes the documentation that follows from tables: docs/api.md, the table of operations in
-- docs/ops.md, the declarations in docs/std.md, and the tables of docs/language.md. Run as `gpulua spec/support/docs.lua` from the root; `--check` only compares.
package.path = "./?.lua;" .. package.path
local gpu = require "gpulua"
local def = require "spec.support.def"

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

-- Names for the sets of element types, after an operation that takes the set.
local SETS = { const = "all", add = "numbers", sqrt = "floats", shl = "integers", ["and"] = "integers, bool", bitcast = "all but bool" }
local set_names = { [""] = "" }
for _, op in ipairs(gpu.ops()) do
  if SETS[op.name] then set_names[table.concat(op.dtypes, " ")] = SETS[op.name] end
end

local function operation_table()
  local out = { "| operation | reached as | element types | meaning |\n|---|---|---|---|\n" }
  for _, op in ipairs(gpu.ops()) do
    out[#out + 1] = ("| `%s` | %s | %s | %s |\n"):format(op.name, op.surface ~= "none" and op.surface or "",
      assert(set_names[table.concat(op.dtypes, " ")], op.name), op.doc)
  end
  return table.concat(out)
end

-- "z.load(): the block's own tile." -> what is written, and what it does.
local function written_of(doc)
  local written, meaning = doc:match "^(.-): (.+)$"
  written = (written or doc:gsub("%.$", "")):gsub("|", "\\|")
  return written, meaning or ""
end

local function macro_table()
  local out = { "| written | what it does |\n|---|---|\n" }
  for _, row in ipairs(def.rows("dsl/builtin_macro.def", "GP_MACRO")) do
    out[#out + 1] = ("| `%s` | %s |\n"):format(written_of(def.text(row[3])))
  end
  return table.concat(out)
end

local function function_table()
  local out = { "| written | track | what it does |\n|---|---|---|\n" }
  local tracks = { Tile = "tile", Simt = "SIMT", None = "both" }
  for _, row in ipairs(def.rows("dsl/intrinsic.def", "GP_INTRINSIC")) do
    local written, meaning = written_of(def.text(row[3]))
    out[#out + 1] = ("| `%s` | %s | %s |\n"):format(written, tracks[row[2]], meaning)
  end
  return table.concat(out)
end

-- The document with its tables made again.
local function language_document()
  local file = assert(io.open "docs/language.md")
  local text = file:read "a"
  file:close()
  for name, made in pairs { operations = operation_table(), macros = macro_table(), functions = function_table() } do
    local mark = ("<!-- %s -->\n"):format(name)
    local first = assert(select(2, text:find(mark, 1, true)))
    local last = assert(text:find("<!-- end -->", first, true))
    text = text:sub(1, first) .. made .. text:sub(last)
  end
  return text
end

local failed = false
for path, text in pairs { ["docs/api.md"] = api, ["docs/ops.md"] = ops(), ["docs/std.md"] = language(), ["docs/language.md"] = language_document() } do
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
