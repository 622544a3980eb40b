-- What specs need of the machine: commands, files, scratch folders, and where the build is.
-- Specs run from the root of the source tree; CTest sets GPULUA_BUILD.
local sh = {}

-- The text of a file; nil when it cannot be read.
function sh.read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

function sh.write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

-- One word for the shell.
function sh.quote(word)
  return "'" .. tostring(word):gsub("'", "'\\''") .. "'"
end

-- Runs a shell command: its output, stdout and stderr together, and its exit status.
function sh.run(command)
  local pipe = assert(io.popen("{ " .. command .. "\n} 2>&1 </dev/null", "r"))
  local output = pipe:read("a")
  local _, how, status = pipe:close()
  return output, how == "exit" and status or 128 + status
end

-- The output of a command that must succeed.
function sh.check(command)
  local output, status = sh.run(command)
  if status ~= 0 then error(("status %d: %s\n%s"):format(status, command, output), 2) end
  return output
end

function sh.lines(text)
  local lines = {}
  for line in text:gmatch("[^\n]+") do lines[#lines + 1] = line end
  return lines
end

-- Paths that `find` gives for the arguments, sorted.
function sh.find(arguments)
  local paths = sh.lines(sh.check("find " .. arguments))
  table.sort(paths)
  return paths
end

function sh.has(program)
  return select(2, sh.run("command -v " .. program)) == 0
end

function sh.exists(path)
  return select(2, sh.run("test -e " .. sh.quote(path))) == 0
end

-- Calls f with a new folder, and removes it whatever happens.
function sh.with_folder(f)
  local folder = sh.check("mktemp -d"):gsub("\n", "")
  local ok, err = xpcall(f, debug.traceback, folder)
  sh.run("rm -rf " .. sh.quote(folder))
  if not ok then error(err, 0) end
end

sh.root = sh.check("pwd"):gsub("\n", "")

-- The folder of the build under test: GPULUA_BUILD, else that of the program that runs us.
function sh.build()
  local folder = os.getenv("GPULUA_BUILD")
  if folder then return folder end
  for i = 0, -20, -1 do
    local program = arg and arg[i]
    local found = program and program:match("^(.*)/gpulua$")
    if found then return found:find("^/") and found or sh.root .. "/" .. found end
  end
  return sh.root .. "/build/dev"
end

-- A value of the build's CMake cache; nil when it has none.
function sh.cache(name)
  local cache = sh.read(sh.build() .. "/CMakeCache.txt") or ""
  return cache:match("\n" .. name .. ":%w+=([^\n]*)")
end

return sh
