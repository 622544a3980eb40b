-- The program against Debian's lua5.4: the same command lines give the same output, errors and
-- exit status. Both run as `lua`, found on PATH, so that messages need no editing.
--
-- What differs on purpose:
--   the version line goes on with our own version;
--   the usage text names our commands in one more line;
--   --help, -h and --version are answered, as other programs do;
--   a chunk that the end of the input cuts off in the REPL: lua5.4 prints "(null)", we what is missing.
local sh = require "spec.support.sh"

local stock = sh.check("command -v lua5.4"):gsub("\n", "")

-- Files of the folder where the commands run.
local FILES = {
  ["args.lua"] = [[
    local low = 0
    while arg[low - 1] do low = low - 1 end
    for i = low, #arg do print(i, arg[i]) end
    print(select("#", ...), ...)
  ]],
  ["mod.lua"] = [[print("mod", ...); return { name = "mod" }]],
  ["bad_mod.lua"] = [[error "mod fails"]],
  ["nothing_mod.lua"] = "",
  ["syntax.lua"] = "local x = = 1\n",
  ["fail.lua"] = "local function f()\n  error 'deep'\nend\nlocal function g() f() end\ng()\nprint 'not reached'\n",
  ["init.lua"] = [[print "from init"; function from_init() return 42 end]],
  ["long_trace.lua"] = "local function f(n) if n == 0 then error 'bottom' end f(n - 1) ; return n end\nf(40)\n",
  ["tail.lua"] = "local function f(n) if n == 0 then error 'bottom' end return f(n - 1) end\nf(3)\n",
  ["shebang.lua"] = "#!/usr/bin/lua\nprint 'ran'\nerror 'on line 3'\n",
  ["bom.lua"] = "\xef\xbb\xbfprint 'bom'\n",
  ["nul.lua"] = "print(#'a\0b')\n",
  ["nul_bad.lua"] = "print('a')\0\n",
  ["crlf.lua"] = "print [[a\r\nb]]\r\nerror 'x'\r\n",
  ["empty.lua"] = "",
  ["binary.lua"] = "\x7fELF\2\1\1\0\0\0\0\0",
  ["huge_line.lua"] = "print(#'" .. ("x"):rep(300000) .. "')\n",
  ["bytes.lua"] = "io.stdout:write(string.char(0, 255, 10))\n",
  ["close.lua"] = "local t <close> = setmetatable({}, {__close = function(_, e) print('closed', e) end})\nerror 'x'\n",
  ["gc.lua"] = "setmetatable({}, {__gc = function() print 'collected' end})\nprint 'end'\n",
  ["gc_error.lua"] = "warn '@on'\nsetmetatable({}, {__gc = function() error 'in gc' end})\nprint 'end'\n",
  ["coroutine.lua"] = "local co = coroutine.wrap(function() error 'inside' end)\nco()\n",
  ["stdin.lua"] = "print(io.read 'l', io.read 'n', io.read 'a')\n",
  ["check"] = "print('a script', ...)\n",
  ["-dash.lua"] = "print('dash', ...)\n",
  ["sub/init.lua"] = "return 'sub'",
}

-- {title, command} or {title, command, what stdin holds}. LUA is the program.
local CASES = {
  { "runs a string", "lua -e 'print(1)'" },
  { "runs a joined string", "lua '-eprint(1)'" },
  { "runs several strings in order", "lua -e 'x=1' -e 'print(x)' '-ex=2' -e 'print(x)'" },
  { "runs an empty string", "lua -e ''" },
  { "a string sees no arguments", "lua -e 'print(...)'" },
  { "-e wants an argument", "lua -e" },
  { "-e wants no option as argument", "lua -e -v" },
  { "-l wants an argument", "lua -l" },
  { "-l wants no option as argument", "lua -l -e" },
  { "a syntax error in a string", "lua -e 'x ='" },
  { "a runtime error in a string", "lua -e 'local x = nil; x.y = 1'" },
  { "an error in a string stops the rest", "lua -e 'error(1)' -e 'print(2)' args.lua" },
  { "requires a module", "lua -l mod -e 'print(mod.name)'" },
  { "requires a joined module", "lua -lmod -e 'print(mod.name)'" },
  { "requires under another name", "lua -l g=mod -e 'print(g.name, mod)'" },
  { "requires a joined module under another name", "lua -lg=mod -e 'print(g.name)'" },
  { "requires a module without a value", "lua -l nothing_mod -e 'print(nothing_mod)'" },
  { "a module that fails", "lua -l bad_mod" },
  { "a module that is missing", "lua -l no_such_module" },
  { "a module of a folder", "lua -l sub -e 'print(sub)'" },
  { "a library that is built in", "lua -l s=string -e 'print(s == string)'" },
  { "warnings are off", "lua -e 'warn \"w\"'" },
  { "-W turns warnings on", "lua -W -e 'warn(\"a\", \"b\")'" },
  { "-W stands in order", "lua -e 'warn \"early\"' -W -e 'warn \"late\"'" },
  { "warn controls", "lua -e 'warn \"@on\" warn \"x\" warn \"@off\" warn \"y\"'" },
  { "-W takes nothing", "lua -Wx" },
  { "an error in a finaliser warns", "lua gc_error.lua" },
  { "a finaliser runs at the end", "lua gc.lua" },
  { "prints its version", "lua -v" },
  { "prints its version and runs", "lua -v -e 'print(1)'" },
  { "prints its version and runs a script", "lua -v args.lua 1" },
  { "-v takes nothing", "lua -vv" },
  { "-E takes nothing", "lua -Ex" },
  { "-i takes nothing", "lua -ix" },
  { "an unknown option", "lua -x" },
  { "an unknown long option", "lua --versions" },
  { "an unknown option after good ones", "lua -e 'print(1)' -q" },
  { "options after the script are its own", "lua args.lua -e -v --" },
  { "stops options at --", "lua -e 'print(1)' -- args.lua a" },
  { "a script whose name starts with a dash", "lua -- -dash.lua a" },
  { "a script named - after --", "lua -- -" },
  { "-- alone reads stdin", "lua --", "print 'stdin'" },
  { "arg has negative indices", "lua -W -e 'x=1' args.lua one two" },
  { "arg without a script", "lua -e 'print(arg[0], arg[1], arg[2], #arg)'" },
  { "arg with empty and odd words", "lua args.lua '' 'a b' '*' \"it's\"" },
  { "arg of stdin", "lua - a b", "print(arg[0], arg[1], arg[-1], ...)" },
  { "arg may be changed before the script", "lua -e 'arg[2] = \"changed\"; arg[3] = \"more\"' args.lua a b" },
  { "arg may be lost before the script", "lua -e 'arg = nil' args.lua a" },
  { "arg may be a bad table before the script", "lua -e 'arg = setmetatable({}, {__len = function() error \"len\" end})' args.lua a" },
  { "many arguments", "lua -e '' args.lua $(seq 300) | tail -3" },
  { "a script from stdin", "lua", "print('in', ...)\nprint(2)" },
  { "a script from stdin by name", "lua - x", "print('in', ...)" },
  { "a script from stdin that fails", "lua", "error 'bad'" },
  { "a script from stdin by name that fails", "lua -", "error 'bad'" },
  { "a script from stdin with a syntax error", "lua", "x = = 1" },
  { "an empty stdin", "lua", "" },
  { "a script that reads stdin", "lua stdin.lua", "line\n42 rest\nmore" },
  { "a script on stdin reads the rest", "lua -", "print(io.read 'a')" },
  { "LUA_INIT runs", "LUA_INIT='print(1)' lua -e 'print(2)'" },
  { "LUA_INIT_5_4 wins", "LUA_INIT='print(1)' LUA_INIT_5_4='print(4)' lua -e 'print(2)'" },
  { "LUA_INIT names a file", "LUA_INIT=@init.lua lua -e 'print(from_init())'" },
  { "LUA_INIT names a missing file", "LUA_INIT=@nowhere.lua lua -e 'print(2)'" },
  { "LUA_INIT fails", "LUA_INIT='error \"init\"' lua -e 'print(2)'" },
  { "LUA_INIT_5_4 has a syntax error", "LUA_INIT_5_4='x =' lua -e 'print(2)'" },
  { "LUA_INIT sees arg", "LUA_INIT='print(arg[0], arg[1])' lua args.lua a" },
  { "an empty LUA_INIT", "LUA_INIT= lua -e 'print(2)'" },
  { "-E ignores LUA_INIT", "LUA_INIT='print(1)' lua -E -e 'print(2)'" },
  { "-E ignores LUA_PATH", "LUA_PATH='/x/?.lua;;' lua -E -e 'print(package.path)'" },
  { "LUA_PATH is heeded", "LUA_PATH='/x/?.lua;;' lua -e 'print(package.path)'" },
  { "LUA_PATH_5_4 wins", "LUA_PATH=/x LUA_PATH_5_4='/y/?.lua' lua -e 'print(package.path)'" },
  { "LUA_CPATH is heeded", "LUA_CPATH='/x/?.so;;' lua -e 'print(package.cpath)'" },
  { "the default paths", "lua -e 'print(package.path, package.cpath, package.config)'" },
  { "the libraries", "lua -e 'for _, l in ipairs{\"coroutine\",\"debug\",\"io\",\"math\",\"os\",\"string\",\"table\",\"utf8\",\"package\"} do print(l, type(_G[l]), package.loaded[l] == _G[l]) end print(_VERSION)'" },
  { "the globals", "lua -e 'local n = {} for k in pairs(_G) do n[#n+1] = k end table.sort(n) print(table.concat(n, \" \"))'" },
  { "the collector's mode", "lua -e 'print(collectgarbage \"incremental\")'" },
  { "os.exit()", "lua -e 'os.exit()'" },
  { "os.exit(true)", "lua -e 'os.exit(true)'" },
  { "os.exit(false)", "lua -e 'os.exit(false)'" },
  { "os.exit(7)", "lua -e 'os.exit(7)'" },
  { "os.exit(256 + 3)", "lua -e 'os.exit(259)'" },
  { "os.exit(-1)", "lua -e 'os.exit(-1)'" },
  { "os.exit closes the state", "lua -e 'setmetatable({}, {__gc = function() print \"gc\" end}) os.exit(3, true)'" },
  { "os.exit leaves the state", "lua -e 'setmetatable({}, {__gc = function() print \"gc\" end}) os.exit(3)'" },
  { "os.exit closes pending variables", "lua -e 'local x <close> = setmetatable({}, {__close = function() print \"close\" end}) os.exit(0, true)'" },
  { "buffered output before os.exit", "lua -e 'io.write \"no newline\" os.exit(2)'" },
  { "a returned value is no status", "lua -e 'return 5'" },
  { "a script's error", "lua fail.lua" },
  { "a long traceback is cut", "lua long_trace.lua" },
  { "tail calls in a traceback", "lua tail.lua" },
  { "an error in a coroutine", "lua coroutine.lua" },
  { "variables are closed on an error", "lua close.lua" },
  { "a script's syntax error", "lua syntax.lua" },
  { "a script that is missing", "lua nowhere.lua" },
  { "a script that is a folder", "lua sub" },
  { "a script with a shebang", "lua shebang.lua" },
  { "a script with a byte order mark", "lua bom.lua" },
  { "a script with a NUL in a string", "lua nul.lua" },
  { "a script with a NUL in the code", "lua nul_bad.lua" },
  { "a script with CRLF", "lua crlf.lua" },
  { "an empty script", "lua empty.lua" },
  { "a script that is another binary", "lua binary.lua" },
  { "a script with a huge line", "lua huge_line.lua" },
  { "output is bytes", "lua bytes.lua" },
  { "a precompiled script", "lua -e 'io.open(\"chunk.out\", \"wb\"):write(string.dump(function(...) print(\"chunk\", ...) end)):close()' && lua chunk.out a" },
  { "a truncated precompiled script", "lua -e 'io.open(\"cut.out\", \"wb\"):write(string.dump(print and function() end):sub(1, 20)):close()' && lua cut.out" },
  { "a script named like a command", "lua check a.rs" },
  { "a script by a path that ends like a command", "lua ./check a.rs" },
  { "error with a number", "lua -e 'error(42)'" },
  { "error with nil", "lua -e 'error()'" },
  { "error with a boolean", "lua -e 'error(true)'" },
  { "error with a table", "lua -e 'error{}'" },
  { "error with a function", "lua -e 'error(print)'" },
  { "error with a table that has __tostring", "lua -e 'error(setmetatable({}, {__tostring = function() return \"mine\" end}))'" },
  { "error whose __tostring gives no string", "lua -e 'error(setmetatable({}, {__tostring = function() return {} end}))'" },
  { "error whose __tostring gives a number", "lua -e 'error(setmetatable({}, {__tostring = function() return 1 end}))'" },
  { "error whose __tostring fails", "lua -e 'error(setmetatable({}, {__tostring = function() error \"again\" end}))'" },
  { "error with a __name", "lua -e 'error(setmetatable({}, {__name = \"My type\"}))'" },
  { "error without a place", "lua -e 'error(\"plain\", 0)'" },
  { "error that starts like a report", "lua -e 'error(\"error: not ours\", 0)'" },
  { "error that starts like our report", "lua -e 'error(\"error[E0308]: not ours\", 0)'" },
  { "error of level 2", "lua -e 'local function f() error(\"two\", 2) end f()'" },
  { "error with an empty string", "lua -e 'error(\"\")'" },
  { "error with a NUL", "lua -e 'error(\"a\\0b\", 0)'" },
  { "error with several lines", "lua -e 'error(\"a\\nb\")'" },
  { "assert without a message", "lua -e 'assert(false)'" },
  { "assert with a table", "lua -e 'assert(nil, {})'" },
  { "stack overflow", "lua -e 'local function f() return 1 + f() end f()' 2>&1 | head -c 300" },
  { "C stack overflow", "lua -e 'local s = string.rep(\"(\", 300) .. \"1\" .. string.rep(\")\", 300) assert(load(\"return \" .. s))'" },
  { "memory runs out", "lua -e 'string.rep(\"x\", 1 << 62)'" },
  { "debug.traceback from a script", "lua -e 'print(debug.traceback(\"t\"))'" },
  { "print goes through __tostring and __name", "lua -e 'print(setmetatable({}, {__tostring = function() return \"T\" end}))'" },
  { "SIGINT stops a loop", "timeout --foreground --preserve-status -s INT 1 lua -e 'while true do end'" },
  { "SIGINT is an error that can be caught", "timeout --foreground --preserve-status -s INT 1 lua -e 'print(pcall(function() while true do end end))'" },
  { "SIGINT ends a read that blocks", "sleep 3 | timeout --foreground --preserve-status -s INT 1 lua -e 'print(io.read())'" },
  { "SIGTERM kills", "timeout --foreground --preserve-status -s TERM 1 lua -e 'while true do end'" },
  { "a closed pipe", "lua -e 'for i = 1, 1e5 do print(i) end' | head -1" },

  { "REPL: expressions", "lua -i", "1 + 1\n'a' .. 'b'\n1, 2, nil, 3\nnil\n" },
  { "REPL: a function without results prints nothing", "lua -i", "(function() end)()\nprint()\n" },
  { "REPL: statements", "lua -i", "x = 5\nx\nlocal y = 1\ny\n" },
  { "REPL: a statement over more lines", "lua -i", "for i = 1, 2 do\nprint(i)\nend\n" },
  { "REPL: an expression over more lines", "lua -i", "return {\n1\n} ~= nil\n" },
  { "REPL: a string over more lines", "lua -i", "x = [[\na\n]]\n#x\n" },
  { "REPL: =expr", "lua -i", "=1, 2\n= 3\n=x y\n" },
  { "REPL: a comment and empty lines", "lua -i", "\n-- nothing\n\n1\n" },
  { "REPL: a syntax error", "lua -i", "x = = 1\nprint 'goes on'\n" },
  { "REPL: a runtime error", "lua -i", "error 'bad'\nnil + 1\nprint 'goes on'\n" },
  { "REPL: an error object", "lua -i", "error {}\nerror(setmetatable({}, {__tostring = function() return 'T' end}))\n" },
  { "REPL: _PROMPT", "lua -i", "_PROMPT = 'one> '\n1\n_PROMPT2 = 'two> '\nx =\n2\n_PROMPT = 7\n_PROMPT2 = false\nx =\n3\n" },
  { "REPL: _PROMPT with __tostring", "lua -i", "n = 0 _PROMPT = setmetatable({}, {__tostring = function() n = n + 1 return n .. '> ' end})\n1\n2\n" },
  { "REPL: _PROMPT of a script", "lua -e '_PROMPT = \"mine> \"' -i", "1\n" },
  { "REPL: print overridden", "lua -i", "local p = print; print = function(...) p('mine', ...) end\n1, 2\n" },
  { "REPL: print lost", "lua -i", "print = nil\n1\n" },
  { "REPL: print fails", "lua -i", "print = function() error 'no' end\n1\n" },
  { "REPL: print fails with an object", "lua -i", "print = function() error {} end\n1\n" },
  { "REPL: after a script", "lua -i args.lua a", "arg[1]\n" },
  { "REPL: after a script that fails", "lua -i fail.lua", "1\n" },
  { "REPL: after a string", "lua -i -e 'x = 3'", "x\n" },
  { "REPL: without the environment", "LUA_INIT='x = 1' lua -E -i", "x\n" },
  { "REPL: warnings", "lua -W -i", "warn 'w'\n" },
  { "REPL: os.exit", "lua -i", "os.exit(4)\n1\n" },
  { "REPL: no newline at the end", "lua -i", "1\n2" },
  { "REPL: an empty input", "lua -i", "" },
  { "REPL: reads input itself", "lua -i", "x = io.read()\nthe line\nx\n" },
  { "REPL: many results", "lua -i", "table.unpack({}, 1, 200)\n" },
  { "REPL: too many results", "lua -i", "#table.pack(table.unpack({}, 1, 1e6))\ntable.unpack({}, 1, 999000)\n" },
  { "REPL: a long line", "lua -i", "#'" .. ("x"):rep(400) .. "'\n" },
  { "REPL: goto continues, labels", "lua -i", "goto done; ::done::\n1\n" },
  { "REPL: a chunk that is a label alone", "lua -i", "::a::\n" },

  { "C modules: posix", "lua -e 'local p = require \"posix\" print(type(p.getpid()), p.basename \"/a/b\", p.version)'", needs = "posix" },
  { "C modules: posix forks", "lua -e 'local u, w = require \"posix.unistd\", require \"posix.sys.wait\" local pid = u.fork() if pid == 0 then u._exit(5) end print(select(2, w.wait(pid)), select(3, w.wait(pid)))'", needs = "posix" },
  { "C modules: luv", "lua -e 'local uv = require \"luv\" local t = uv.new_timer() t:start(10, 0, function() print \"timer\" t:close() end) uv.run() print(uv.version_string())'", needs = "luv" },
  { "C modules: luv's errors", "lua -e 'local uv = require \"luv\" local t = uv.new_timer() t:start(1, 0, function() t:close() error \"in timer\" end) print(pcall(uv.run))' 2>&1 | head -1", needs = "luv" },
  { "C modules: luv threads", "lua -e 'local uv = require \"luv\" local t = uv.new_thread(function(n) print(\"thread\", n) end, 7) t:join()'", needs = "luv" },
  { "C modules: lpeg", "lua -e 'local l = require \"lpeg\" print(l.match(l.C(l.R(\"az\")^1), \"abc1\"), l.version and l.version())'", needs = "lpeg" },
  { "C modules: lfs", "lua -e 'print(require \"lfs\".attributes(\"sub\", \"mode\"))'", needs = "lfs" },
}

-- Typed at a terminal: each step is {seconds before it, keys}.
local TYPED = {
  { "an expression", { { 0.6, "1 + 1\n" }, { 0.3, "\4" } } },
  { "SIGINT stops a loop and the loop of lines goes on",
    { { 0.6, "while true do end\n" }, { 0.6, "\3" }, { 0.4, "print 'alive'\n" }, { 0.3, "\4" } } },
  { "history", { { 0.6, "x = 40\n" }, { 0.3, "x + 2\n" }, { 0.3, "\27[A\n" }, { 0.3, "\4" } } },
}

describe("gpulua as lua5.4", function()
  local folder

  setup(function()
    folder = sh.check("mktemp -d"):gsub("\n", "")
    for _, name in ipairs { "stock", "ours", "files", "files/sub" } do sh.check("mkdir " .. folder .. "/" .. name) end
    sh.check(("ln -s %s %s/stock/lua"):format(sh.quote(stock), folder))
    sh.check(("ln -s %s %s/ours/lua"):format(sh.quote(sh.build() .. "/gpulua"), folder))
    for name, text in pairs(FILES) do sh.write(folder .. "/files/" .. name, text) end
  end)
  teardown(function() sh.run("rm -rf " .. folder) end)

  -- In a sanitized build readline cannot be bound to itself alone, so it comes before the libedit that
  -- LLVM's shared library brings.
  local sanitizer = sh.cache("GPULUA_SANITIZE") or ""
  local preload = sanitizer == "" and "" or "LD_PRELOAD=libreadline.so.8 ASAN_OPTIONS=verify_asan_link_order=0"

  local function environment(whose)
    local kept = { whose == "ours" and preload or nil }
    for _, name in ipairs { "LSAN_OPTIONS", "UBSAN_OPTIONS" } do
      if os.getenv(name) then kept[#kept + 1] = sh.quote(name .. "=" .. os.getenv(name)) end
    end
    return ("env -i HOME=%s LC_ALL=C TERM=dumb PATH=%s/%s:\"$PATH\" %s"):format(folder, folder, whose,
      table.concat(kept, " "))
  end

  -- stdout, stderr and status of a shell command with `lua` as one of the two.
  local function run(whose, command, input)
    sh.write(folder .. "/command", command)
    sh.write(folder .. "/in", input or "")
    local _, status = sh.run(("cd %s/files && %s sh ../command <../in >../out 2>../err"):format(folder, environment(whose)))
    return { stdout = sh.read(folder .. "/out"), stderr = sh.read(folder .. "/err"), status = status }
  end

  local function without_ours(text)
    return (text:gsub("  %(gpulua [^\n]-%)(\r?\n)", "%1"):gsub("Commands %(gpulua help%)[^\n]*\n", ""))
  end

  for _, case in ipairs(CASES) do
    it(case[1], function()
      local theirs = run("stock", case[2], case[3])
      if case.needs and theirs.stderr:find("module '" .. case.needs, 1, true) then
        return pending("lua-" .. case.needs .. " is not installed")
      end
      local ours = run("ours", case[2], case[3])
      for stream in pairs { stdout = 1, stderr = 1 } do
        ours[stream] = without_ours(ours[stream])
        -- Addresses differ from run to run.
        ours[stream] = ours[stream]:gsub("0x%x+", "0x")
        theirs[stream] = theirs[stream]:gsub("0x%x+", "0x")
      end
      assert.are.same(theirs, ours)
    end)
  end

  it("names its own version behind Lua's", function()
    local r = run("ours", "lua -v")
    assert.is_truthy(r.stdout:find("^Lua 5%.4[^\n]*PUC%-Rio  %(gpulua [%d.]+, LLVM [%d.]+%)\n$"))
    assert.are.same(r, run("ours", "lua --version"))
  end)

  it("names its commands in the usage", function()
    assert.is_truthy(run("ours", "lua -x").stderr:find("\nCommands %(gpulua help%): check, emit"))
  end)

  it("says what to do with a kernel file", function()
    local r = run("ours", "printf 'fn f() {}' >k.rs; lua k.rs; s=$?; rm k.rs; exit $s")
    assert.are.equal("lua: 'k.rs' is a kernel file: gpulua check k.rs\n", r.stderr)
    assert.are.equal(1, r.status)
  end)

  it("says what is missing when the input ends inside a chunk", function()
    local ours = run("ours", "lua -i", "x = (\n")
    assert.are.equal("stdin:1: unexpected symbol near <eof>\n", ours.stderr)
    assert.are.equal(0, ours.status)
  end)

  for _, case in ipairs(TYPED) do
    it("typed: " .. case[1], function()
      if not sh.has("script") then return pending("script is not installed") end
      local steps = {}
      for _, step in ipairs(case[2]) do
        steps[#steps + 1] = ("sleep %.1f; printf %%b %s"):format(step[1],
          sh.quote((step[2]:gsub(".", function(c) return ("\\0%03o"):format(c:byte()) end))))
      end
      local command = ("(%s; sleep 0.5) | script -qec lua /dev/null"):format(table.concat(steps, "; "))
      local theirs, ours = run("stock", command), run("ours", command)
      ours.stdout = without_ours(ours.stdout)
      assert.are.same(theirs, ours)
    end)
  end
end)
