-- CTest: slow
-- Bugs that the fuzz targets must find: each file of planted/ is one, put into a copy of the tree that is built
-- and fuzzed from the committed corpus. An edit is what is wrong, the file, then lines to go (-) and to come (+).
-- The name starts with the target, check or parse. PLANTED names one edit, PLANTED_SECONDS the limit of each;
-- `found` in the output says where: a program of the specs, or a mutant and how many it took.
local sh = require "spec.support.sh"

local SECONDS = math.tointeger(tonumber(os.getenv "PLANTED_SECONDS") or 60)
local COPIED = "core dsl codegen runtime lua cmake spec CMakeLists.txt"
local SEEDS = "spec/fuzz/corpus spec/ui spec/lower spec/parse"

local function read_edit(path)
  local what, file, rest = assert(sh.read(path)):match("^([^\n]+)\n([^\n]+)\n(.*)$")
  local edit = { what = what, file = file, old = "", new = "" }
  for sign, line in rest:gmatch("([-+])([^\n]*\n)") do
    local side = sign == "-" and "old" or "new"
    edit[side] = edit[side] .. line
  end
  return edit
end

-- The text with the edit made; its old lines must be there, once.
local function apply(edit, text)
  local first, last = text:find(edit.old, 1, true)
  assert(first, edit.file .. " has no such lines:\n" .. edit.old)
  assert(not text:find(edit.old, last, true), edit.file .. " has these lines twice:\n" .. edit.old)
  return text:sub(1, first - 1) .. edit.new .. text:sub(last + 1)
end

local has_fuzzer = os.execute("echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' "
  .. "| clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null")

-- Builds of its own, the same whatever build is under test: once is enough.
if (sh.cache("GPULUA_SANITIZE") or "") ~= "" or not has_fuzzer then
  return describe("planted bugs", function() pending("need clang with libFuzzer, and are looked for once") end)
end

describe("a planted bug", function()
  local folder

  local function build(target) return sh.check(("cmake --build %s/build --target fuzz_%s"):format(folder, target)) end

  local function fuzz(target)
    return sh.run(("cd %s && rm -rf new && mkdir new && ASAN_OPTIONS=detect_leaks=0 build/spec/fuzz/fuzz_%s -seed=1 "
      .. "-max_len=6000 -mutate_depth=2 -max_total_time=%d -artifact_prefix=new/ new %s"):format(
      folder, target, SECONDS, SEEDS))
  end

  setup(function()
    folder = sh.build() .. "-planted" -- one place for all runs, so that the compiler cache knows it
    sh.check(("rm -rf %s && mkdir -p %s && cp -R %s %s"):format(folder, folder, COPIED, folder))
    sh.check(("cmake -S %s -B %s/build -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER=clang "
      .. "-DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_FLAGS='-g1 -O1 -w -fno-sanitize-recover=all' -DGPULUA_TESTING=ON "
      .. "-DGPULUA_FUZZ=ON -DGPULUA_SANITIZE=address,undefined -DGPULUA_STATIC_LLVM=OFF"):format(folder, folder))
    sh.check(("cmake --build %s/build --target fuzz_check fuzz_parse"):format(folder))
  end)
  teardown(function() sh.run("rm -rf " .. folder) end)

  for path in sh.check("ls spec/fuzz/planted/*.edit"):gmatch("[^\n]+") do
    local name = path:match("([^/]+)%.edit$")
    local target, edit = name:match("^[^_]+"), read_edit(path)
    if (os.getenv "PLANTED" or name) == name then
      it("is found: " .. edit.what, function()
        local file = folder .. "/" .. edit.file
        local text = assert(sh.read(file))
        sh.write(file, apply(edit, text))
        finally(function() sh.write(file, text) end)
        build(target)
        local start = os.time()
        local out, status = fuzz(target)
        local runs = math.tointeger(tonumber(out:match(".*\n#(%d+)%s+%u+%s+cov")) or 0)
        print(("found %s: %d s, %s"):format(name, os.time() - start,
          out:find("INITED", 1, true) and "a mutant, number " .. runs or "a program of the specs"))
        assert(status ~= 0, "not found in " .. SECONDS .. " s")
        assert(out:find("ERROR: libFuzzer: deadly signal", 1, true) or out:find("ERROR: AddressSanitizer", 1, true)
          or out:find("runtime error", 1, true), out)
      end)
    end
  end
end)
