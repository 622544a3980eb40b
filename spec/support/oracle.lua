-- The oracle of moves and borrows: rustc judges the same programs, and every verdict (code and
-- line of each error) must agree.
--
--   lua5.4 spec/support/oracle.lua CHECKER [COUNT] [SEED]
--
-- CHECKER is gp_check_dump. Programs are the files of spec/ui/borrow and COUNT random ones
-- (default 300, seed 1) made by spec/support/oracle_gen.lua. rustc is the first of RUSTC, rustc
-- and rustc-web that runs; without one the status is 77, which CTest reads as skipped. A file
-- under spec/ui/borrow whose first line is `// oracle: REASON` is known to differ and is listed
-- with that reason; it fails when it agrees.

local here = arg[0]:match("^(.*)/[^/]*$") or "."
local checker = assert(arg[1], "usage: oracle.lua CHECKER [COUNT] [SEED]")
local count = math.tointeger(arg[2] or 300)
local seed = math.tointeger(arg[3] or 1)
package.path = here .. "/?.lua;" .. package.path
local generate = require "oracle_gen"

local function find_rustc()
    for _, name in ipairs { os.getenv("RUSTC") or "rustc", "rustc", "rustc-web" } do
        if os.execute(name .. " --version >/dev/null 2>&1") then return name end
    end
end

local function read(path)
    local file = assert(io.open(path))
    local text = file:read "a"
    file:close()
    return text
end

local function write(path, text)
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
end

local function lines_of(command)
    local pipe = assert(io.popen(command))
    local lines = {}
    for line in pipe:lines() do lines[#lines + 1] = line end
    return lines, pipe:close()
end

-- rustc does not know the attributes of kernels; the lines stay, so that numbers agree.
local function for_rustc(text)
    text = text:gsub("#%[kernel%]", ""):gsub("#%[launch_%w+%b()%]", ""):gsub("#%[tile%]", "")
    return text .. "\nuse oracle_stub::*;\n"
end

-- A sorted, duplicate-free set "line code" as one string.
local function verdict(set)
    local keys = {}
    for key in pairs(set) do keys[#keys + 1] = key end
    table.sort(keys)
    return table.concat(keys, ", ")
end

local function ours(path)
    local lines, ok = lines_of(("%s %s 2>&1"):format(checker, path))
    local set = {}
    for _, line in ipairs(lines) do
        local at, code = line:match "^%S+ (%d+) ([EG]%d+)$"
        set[at and at .. " " .. code or line] = true
    end
    if not ok then set["the checker failed"] = true end
    return verdict(set)
end

local rustc, dir

local function theirs(path, text)
    local copy = dir .. "/case.rs"
    write(copy, for_rustc(text))
    local set = {}
    local command = "%s --edition 2024 --crate-type lib --crate-name case --emit=metadata --cap-lints allow "
        .. "--error-format=short --extern oracle_stub=%s/liboracle_stub.rmeta -o %s/case.rmeta %s 2>&1"
    for _, line in ipairs((lines_of(command:format(rustc, dir, dir, copy)))) do
        local at, rest = line:match "^[^:]*:(%d+):%d+: error(.*)$"
        -- rustc has no code for lifetimes that do not relate; ours is G0160
        if at then set[at .. " " .. (rest:match "^%[(E%d+)%]" or "G0160")] = true end
    end
    return verdict(set)
end

-- rustc goes on through the unwinding path of each call. A loan that is to outlive the function
-- and whose place is written or moved later, which is its one mistake (E0505, E0506), is reported
-- a second time there, as E0597. Kernels do not unwind, and one mistake gives one error.
local function is_unwinding(a, b)
    if not (a:find "E0505" or a:find "E0506") then return false end
    local have = {}
    for item in a:gmatch "[^,]+" do have[item:match "%S.*"] = true end
    for item in b:gmatch "[^,]+" do
        item = item:match "%S.*"
        if not have[item] and not item:find "E0597" then return false end
        have[item] = nil
    end
    return next(have) == nil
end

local agreed, failed, known, refused = 0, 0, 0, 0

local function compare(path, text)
    local a, b = ours(path), theirs(path, text)
    local reason = text:match "^// oracle: ([^\n]*)"
    if not reason and a ~= b and is_unwinding(a, b) then reason = "reported again on the unwinding path" end
    if b ~= "" then refused = refused + 1 end
    if a == b and not reason then
        agreed = agreed + 1
    elseif a ~= b and reason then
        known = known + 1
        print(("differs as known: %s: ours {%s}, rustc {%s}: %s"):format(path, a, b, reason))
    else
        failed = failed + 1
        print(("%s: %s\n  ours  {%s}\n  rustc {%s}"):format(reason and "agrees against its note" or "differs", path, a, b))
    end
end

rustc = find_rustc()
if not rustc then
    print "skipped: no rustc"
    os.exit(77)
end
dir = os.tmpname()
os.remove(dir)
assert(os.execute("mkdir -p " .. dir))
assert(os.execute(("%s --edition 2024 --crate-type lib --crate-name oracle_stub --emit=metadata --cap-lints allow -o %s/liboracle_stub.rmeta %s/oracle_stub.rs")
    :format(rustc, dir, here)))

for _, path in ipairs((lines_of(("ls %s/../ui/borrow/*.rs"):format(here)))) do compare(path, read(path)) end
local files = agreed + failed + known
for i = 1, count do
    local path = ("%s/random_%d.rs"):format(dir, i)
    local text = generate(seed * 100003 + i)
    write(path, text)
    local before = failed
    compare(path, text)
    if failed > before then print(text) end
end
os.execute("rm -r " .. dir)
print(("%d files and %d random programs: %d agree, %d differ as known, %d differ; rustc refuses %d")
    :format(files, count, agreed, known, failed, refused))
os.exit(failed == 0 and 0 or 1)
