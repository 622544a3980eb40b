-- What scripts print and are refused with, word for word: reports/NAME.lua gives NAME.out, and
-- NAME.err where something goes to stderr. BLESS=1 writes the files; read the difference.
local sh = require "spec.support.sh"

local FOLDER = "spec/lua/reports"
local NO_SCRIPT = { show = true }

describe("the reports of", function()
  local program = sh.build() .. "/gpulua"
  program = program:sub(1, 1) == "/" and program or sh.root .. "/" .. program

  local function compare(path, got)
    if os.getenv "BLESS" then
      if got ~= "" or sh.exists(path) then sh.write(path, got) end
    end
    assert.are.equal(sh.read(path) or "", got)
  end

  for _, path in ipairs(sh.find(FOLDER .. " -name '*.lua'")) do
    local name = path:match("([^/]*)%.lua$")
    if not NO_SCRIPT[name] then
      it(name, function()
        local errors = os.tmpname()
        local output, status = sh.run(("cd %s && GPULUA_DEVICE=cpu NO_COLOR=1 LUA_PATH=';;' %s %s.lua 2>%s"):format(FOLDER,
          sh.quote(program), name, errors))
        local stderr = sh.read(errors)
        os.remove(errors)
        compare(FOLDER .. "/" .. name .. ".out", output)
        compare(FOLDER .. "/" .. name .. ".err", stderr)
        assert.are.equal(0, status)
      end)
    end
  end
end)
