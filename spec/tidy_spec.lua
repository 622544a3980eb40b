-- House rules that a machine can check: layers, sizes, tables and what covers them, texts, symbols.
-- Each check lists every violation, so that one run tells all there is to do.
local sh = require "spec.support.sh"
local def = require "spec.support.def"

local LAYERS = {
  core = { core = true },
  dsl = { dsl = true, core = true },
  codegen = { codegen = true, dsl = true, core = true },
  runtime = { runtime = true, core = true },
  lua = { lua = true, codegen = true, runtime = true, dsl = true, core = true },
}
local LAYER_FOLDERS = "core dsl codegen runtime lua"
local MAX_FILE_LINES, MAX_FUNCTION_LINES = 900, 60

-- What no text of the project has, as regular expressions; the brackets keep this file clean.
local FORBIDDEN_WORDS = {
  "[T]ODO", "[F]IXME", "\\b[X]XX\\b", "[C]laude", "[C]opilot", "[C]hatGPT", "[A]nthropic", "[O]penAI",
  "AI [a]ssistant", "AI-[g]enerated", "language [m]odel", "\\b[L]LMs?\\b",
}
-- Where a developer's machine shows.
local FORBIDDEN_PATHS = { "/[w]ork/(main|shared|\\.)", "/[h]ome/[a-z]", "/[r]oot/[a-z]", "/[U]sers/[a-z]", "/[t]mp/gp/" }

local function none(violations, what)
  if #violations > 0 then
    error(("%d %s:\n  %s"):format(#violations, what, table.concat(violations, "\n  ")), 2)
  end
end

local function sources(folders, ...)
  local names = {}
  for _, ext in ipairs { ... } do names[#names + 1] = "-name '*." .. ext .. "'" end
  return sh.find(folders .. " -type f \\( " .. table.concat(names, " -o ") .. " \\)")
end

-- Every file of the project, built and ignored ones left out.
local function all_files()
  local listed, status = sh.run("git ls-files -co --exclude-standard")
  if status == 0 then
    local there = {}
    for _, path in ipairs(sh.lines(listed)) do
      if sh.exists(path) then there[#there + 1] = path end
    end
    return there
  end
  return sh.find(". -type f -not -path './build/*' -not -path './.*'")
end

-- Calls f(path, line number, line) for the lines of files.
local function each_line(paths, f)
  for _, path in ipairs(paths) do
    local number = 0
    for line in (assert(sh.read(path)) .. "\n"):gmatch("(.-)\n") do
      number = number + 1
      f(path, number, line)
    end
  end
end

-- Lines of C files outside comments and strings that match a pattern, but for the files allowed.
local function uses(paths, pattern, allowed)
  local found = {}
  each_line(paths, function(path, number, line)
    local code = line:gsub('"[^"]*"', '""'):gsub("/%*.-%*/", ""):gsub("/%*.*", ""):gsub("^%s*%*.*", ""):gsub("//.*", "")
    if code:find(pattern) and not (allowed and path:find(allowed)) then
      found[#found + 1] = ("%s:%d: %s"):format(path, number, line:match("^%s*(.-)%s*$"))
    end
  end)
  return found
end

local C = sources(LAYER_FOLDERS, "c", "h", "def")

describe("layers", function()
  it("include downwards only", function()
    local bad = {}
    each_line(C, function(path, number, line)
      local included = line:match('^%s*#%s*include%s*"([^"]+)"')
      local from, to = path:match("^(%w+)/"), included and included:match("^(%w+)/")
      if not included then return end
      -- A public header beside it, or one that the build writes.
      local own = not to and (sh.exists(path:match("^(.*/)") .. included) or
        sh.exists(sh.build() .. "/generated/" .. included))
      if not own and not (to and LAYERS[from][to]) then
        bad[#bad + 1] = ("%s:%d: %s"):format(path, number, included)
      elseif path:find("^dsl/ir/") and to == "dsl" and not included:find("^dsl/ir/") then
        bad[#bad + 1] = ("%s:%d: the kernel IR includes %s"):format(path, number, included)
      end
    end)
    none(bad, "includes against the direction")
  end)

  local function includes(header, allowed)
    local bad = {}
    each_line(C, function(path, number, line)
      if line:find("^%s*#%s*include%s*<" .. header) and not path:find(allowed) then
        bad[#bad + 1] = ("%s:%d: %s"):format(path, number, line)
      end
    end)
    none(bad, "includes outside " .. allowed)
  end
  it("keep LLVM in codegen", function() includes("llvm%-c/", "^codegen/") end)
  it("keep Lua in lua", function()
    includes("l[ua][ulax]+[xib]*%.h>", "lua[./]") -- lua/, and core/include/gpulua_lua.h for hosts
  end)
  it("keep CUDA's headers out", function() includes("cuda", "^$") end)
  it("keep LLVM's version in the shim", function()
    none(uses(C, "LLVM_VERSION", "^codegen/llvm_shim%."), "uses of LLVM_VERSION")
  end)
  it("jump in core/protect.c only", function()
    none(uses(C, "setjmp", "^core/protect%.c$"), "uses of setjmp")
    none(uses(C, "longjmp", "^core/protect%.c$"), "uses of longjmp")
  end)
  it("stop the process in core/base.c and the program only", function()
    for _, name in ipairs { "exit", "_exit", "_Exit", "quick_exit" } do
      none(uses(C, "%f[%w_]" .. name .. "%s*%(", "^lua/cli%.c$"), "calls of " .. name)
    end
    none(uses(C, "%f[%w_]abort%s*%(", "^core/base%.c$"), "calls of abort")
  end)
end)

describe("sizes", function()
  it("files have at most " .. MAX_FILE_LINES .. " lines", function()
    local bad = {}
    for _, path in ipairs(sources(LAYER_FOLDERS .. " spec examples cmake", "c", "h", "def", "lua", "sh", "cmake", "rs")) do
      local _, count = assert(sh.read(path)):gsub("\n", "")
      if count > MAX_FILE_LINES then bad[#bad + 1] = ("%s: %d"):format(path, count) end
    end
    none(bad, "long files")
  end)

  it("functions have at most " .. MAX_FUNCTION_LINES .. " lines", function()
    if not sh.has("ctags-universal") then return pending("universal-ctags is not installed") end
    local bad = {}
    local command = "ctags-universal -o - --languages=C --langmap=C:.c.h --kinds-C=f --fields=+ne --output-format=u-ctags -R "
    for _, tag in ipairs(sh.lines(sh.check(command .. LAYER_FOLDERS))) do
      local name, path = tag:match("^(%S+)\t(%S+)")
      local first, last = tag:match("\tline:(%d+)"), tag:match("\tend:(%d+)")
      if first and last and last - first + 1 > MAX_FUNCTION_LINES then
        bad[#bad + 1] = ("%s:%d: %s has %d"):format(path, first, name, last - first + 1)
      end
    end
    none(bad, "long functions")
  end)
end)

describe("state", function()
  -- Objects that change and belong to no session, each with what makes it unavoidable.
  local ALLOWED = {
    ["cli.c signalled"] = "a signal handler takes no argument",
    ["repl.c completion"] = "readline's callbacks take no argument",
    ["cli.c program"] = "the program's name, as in lua.c, for messages of any moment",
    ["llvm_shim.c targets_once"] = "LLVM's registry of targets belongs to the process",
    ["limage.c *"] = "stb_image_write's settings and tables, which nothing writes",
  }

  it("there are no mutable objects outside functions' frames", function()
    if (sh.cache("GPULUA_SANITIZE") or "") ~= "" then return pending("sanitizers add objects of their own") end
    local bad, seen = {}, 0
    for _, path in ipairs(sh.find(sh.quote(sh.build()) .. " -name '*.c.o' -not -path '*/contributing/*' -regex '" ..
      ".*/\\(gp_core\\|gp_dsl\\|gp_codegen\\|gp_runtime\\|libgpulua\\)\\.dir/.*'")) do
      local file = path:match("([^/]+)%.o$")
      for _, symbol in ipairs(sh.lines(sh.check("objdump -t " .. sh.quote(path)))) do
        -- "0000000000000000 l     O .bss	0000000000000008 signalled"
        local flags, section, name = symbol:match("^%x+ (.......) (%S+)%s+%x+%s+(.*)$")
        local is_object = flags and flags:find("O") and not name:find("^%.")
        seen = seen + (flags and 1 or 0)
        local writable = section and not section:find("%.rel%.ro") and
          (section:find("^%.data") or section:find("^%.bss") or section:find("^%.t?data") or
           section:find("^%.tbss") or section == "*COM*")
        local key = is_object and file .. " " .. name:gsub("^%.hidden ", ""):gsub("%.%d+$", "")
        if is_object and writable and not ALLOWED[key] and not ALLOWED[file .. " *"] then bad[#bad + 1] = key .. " in " .. section end
      end
    end
    assert(seen > 100, "no objects were read from " .. sh.build())
    none(bad, "objects that change")
  end)

  it("the shared library exports its API and nothing else", function()
    local bad, seen = {}, {}
    local header = assert(sh.read("core/include/gpulua.h")) .. assert(sh.read("core/include/gpulua_lua.h"))
    for _, line in ipairs(sh.lines(sh.check("nm -D --defined-only " .. sh.quote(sh.build() .. "/libgpulua.so")))) do
      local kind, name = line:match("^%x+ (%a) ([^@]+)")
      if kind == "T" then
        seen[name] = true
        if not header:find("%f[%w_]" .. name .. "%f[^%w_]%(") and name ~= "gpulua_main" then
          bad[#bad + 1] = name .. " is exported and in no public header"
        end
      elseif kind and kind ~= "A" then
        bad[#bad + 1] = name .. " is an exported object"
      end
    end
    for name in header:gsub("#define[^\n]*", ""):gmatch("GPULUA_API[^;]-([%w_]+)%(") do
      if not seen[name] then bad[#bad + 1] = name .. " is declared and not exported" end
    end
    none(bad, "symbols")
  end)
end)

describe("tables", function()
  local diags = def.rows("core/diag.def", "GP_DIAG")

  it("every diagnostic is reported somewhere", function()
    local text = {}
    for _, path in ipairs(C) do
      if not path:find("^core/diag[%w_]*%.def$") then text[#text + 1] = sh.read(path) end
    end
    text = table.concat(text)
    local bad = {}
    for _, row in ipairs(diags) do
      local in_code = text:find("GpDiag_" .. row[1] .. "%f[%W]")
      local in_table = text:find("[(,]%s*" .. row[1] .. "%s*[,)]") -- a column of another .def
      if not in_code and not in_table then bad[#bad + 1] = row[1] end
    end
    none(bad, "diagnostics that nothing reports")
  end)

  -- Diagnostics that no test can cause, and why.
  local UNCAUSED = {
    G0500 = "a bug of ours", G0915 = "memory of the machine runs out",
  }
  -- Expected outputs are reports ("error[E0382]: ..", JSON), in spec/ui, spec/lua/reports, spec/unit
  -- and spec/cli; refusals of spec/codegen/text; and codes that tests in C and Lua compare with.
  it("every diagnostic is in an expected output", function()
    local text = {}
    for _, path in ipairs(sh.find("spec -type f -not -name tidy_spec.lua -not -name explain_spec.lua " ..
      "-not -name '*.bc' -not -name '*.bin' -not -path 'spec/fuzz/*' -not -path 'spec/compat/*'")) do
      text[#text + 1] = sh.read(path)
    end
    text = table.concat(text, "\n")
    local bad = {}
    for _, row in ipairs(diags) do
      local code = row[1]
      local expected = text:find("[" .. code .. "]", 1, true) or text:find('"code":%s*"' .. code .. '"') or
        text:find("refused " .. code .. ":", 1, true) or text:find(', "' .. code .. '")', 1, true) or
        text:find('== "' .. code .. '"', 1, true)
      if not expected and not UNCAUSED[code] then bad[#bad + 1] = code .. ": " .. row[3] end
    end
    none(bad, "diagnostics without a case")
  end)

  it("every diagnostic has an explanation", function()
    local bad = {}
    for _, row in ipairs(diags) do
      local title, explain = def.text(row[3]), def.text(row[4])
      if not explain:find("%l.*%.") or #explain < 40 or explain == title then bad[#bad + 1] = row[1] .. ": " .. explain end
      if explain:find("wrong:") and not explain:find("right:") then
        bad[#bad + 1] = row[1] .. ": a wrong program without a right one"
      end
    end
    none(bad, "explanations that explain little")
  end)

  it("diagnostics are in order and their titles in form", function()
    local bad, before = {}, ""
    for _, row in ipairs(diags) do
      local code, title = row[1], def.text(row[3])
      if code <= before then bad[#bad + 1] = code .. " stands after " .. before end
      if title:find("%.$") then bad[#bad + 1] = code .. ": the title ends in a period" end
      if title:find("^%u%l") then bad[#bad + 1] = code .. ": the title starts with a capital" end
      before = code
    end
    none(bad, "rows")
  end)

  it("every IR operation is run", function()
    -- `gp_codegen_tool ops` runs what is elementwise, on every element type, whatever the row.
    local is_elementwise = {}
    for _, row in ipairs(def.rows("dsl/ir/sig.def", "GP_SIG")) do is_elementwise[row[1]] = row[4] == "1" end
    local runs = {}
    for _, path in ipairs(sh.find("spec/ir/run spec/codegen/agree -name '*.ir'")) do runs[#runs + 1] = sh.read(path) end
    runs = table.concat(runs, "\n"):gsub("//[^\n]*", "")
    local bad = {}
    for _, row in ipairs(def.rows("dsl/ir/op.def", "GP_OP")) do
      local spelling = def.text(row[2])
      if not is_elementwise[row[4]] and not runs:find("%f[%w_]" .. spelling .. "%f[^%w_]") then
        bad[#bad + 1] = row[1] .. " (" .. spelling .. ")"
      end
    end
    none(bad, "operations without a run case")
  end)

  it("switches have no default", function()
    local bad = {}
    each_line(sources(LAYER_FOLDERS, "c", "h"), function(path, number, line)
      if line:find("^%s*default%s*:") and not line:find("/%*") then
        bad[#bad + 1] = ("%s:%d"):format(path, number)
      end
    end)
    none(bad, "default arms without a reason beside them")
  end)
end)

describe("texts", function()
  local function without(patterns)
    local list = os.tmpname()
    sh.write(list, table.concat(all_files(), "\n"))
    local found, status = sh.run("tr '\\n' '\\0' <" .. list .. " | xargs -0 grep -nHIE " ..
      sh.quote(table.concat(patterns, "|")))
    os.remove(list)
    assert(status == 0 or status == 123, found) -- xargs: 123 when a grep found nothing
    none(sh.lines(found), "lines")
  end
  it("hold no marks of unfinished work and no words about tools", function() without(FORBIDDEN_WORDS) end)
  it("hold no absolute paths of a developer's machine", function()
    without(FORBIDDEN_PATHS)
    without { "(^|[^[:alnum:]_.-])" .. sh.root:gsub("[.+]", "\\%0") .. "\\b" }
  end)

  local documents = { "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/language.md" }

  it("documents name files that exist", function()
    local bad = {}
    for _, document in ipairs(documents) do
      local text = sh.read(document)
      if not text then bad[#bad + 1] = document .. " is missing" end
      for name in (text or ""):gmatch("`([%w_./-]+)`") do
        local is_path = name:find("/") and not name:find("^/") and (name:find("%.%w+$") or name:find("/$"))
        local is_top = name:find("^[%u_]+%.md$") or name == "packages.txt" or name == "CMakePresets.json"
        local ignored = name:find("^build/") or name:find("%.%.%.") or name:find("^lib/") or name:find("^share/")
        if (is_path or is_top) and not ignored and not sh.exists(name) then
          -- In the code map, names stand below the folder that their row is about.
          local below = false
          for _, folder in ipairs { "spec/", "core/", "dsl/", "codegen/", "runtime/", "lua/" } do
            below = below or sh.exists(folder .. name)
          end
          if not below then bad[#bad + 1] = document .. ": " .. name end
        end
      end
    end
    none(bad, "names")
  end)

  local function run_programs(document)
    local text = assert(sh.read(document))
    local bad, count = {}, 0
    local program = sh.quote(sh.build() .. "/gpulua")
    sh.with_folder(function(folder)
      local blocks = {}
      for language, body in text:gmatch("\n```(%w*)\n(.-\n)```") do blocks[#blocks + 1] = { language, body } end
      for i, block in ipairs(blocks) do
        local language, body = block[1], block[2]
        local path, command = folder .. "/readme"
        if language == "lua" then
          path, command = path .. ".lua", "GPULUA_DEVICE=cpu " .. program .. " readme.lua"
        elseif language == "rust" then
          path, command = path .. ".rs", program .. " check readme.rs"
        elseif language == "c" then
          path = path .. ".c"
          command = "cc -std=c99 -Wall -Werror -fsyntax-only -I " .. sh.quote(sh.root .. "/core/include") ..
            " $(pkg-config --cflags lua5.4) readme.c"
        end
        if command then
          count = count + 1
          sh.write(path, body)
          local output, status = sh.run("cd " .. sh.quote(folder) .. " && " .. command)
          -- A block of text after it is what it prints, a refusal included.
          local expected = blocks[i + 1] and blocks[i + 1][1] == "text" and blocks[i + 1][2]
          if expected and not output:find(expected:gsub("%s+$", ""), 1, true) then
            bad[#bad + 1] = ("block %d prints\n%s"):format(i, output)
          elseif not expected and status ~= 0 then
            bad[#bad + 1] = ("block %d ends with %d:\n%s"):format(i, status, output)
          end
        end
      end
    end)
    assert(count > 0, document .. " has no programs")
    none(bad, "programs")
  end
  it("README's programs run", function() run_programs "README.md" end)
  it("the programs of the language's document run", function() run_programs "docs/language.md" end)

  it("C files say at the top what they are", function()
    local bad = {}
    for _, path in ipairs(sources(LAYER_FOLDERS, "c", "h", "def")) do
      if not assert(sh.read(path)):find("^/%*") then bad[#bad + 1] = path end
    end
    none(bad, "files without a word at the top")
  end)
end)
