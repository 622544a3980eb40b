-- Ownership of Lua values: each script of spec/ui/own prints exactly what stands in the .txt file
-- beside it. GPULUA_BLESS=1 writes those files.
local sh = require "spec.support.sh"

local PROGRAM = sh.quote(sh.build() .. "/gpulua")

describe("ownership", function()
  for _, path in ipairs(sh.find("spec/ui/own -name '*.lua'")) do
    it(path, function()
      local output, status = sh.run(("GPULUA_DEVICE=cpu %s %s 2>/dev/null"):format(PROGRAM, sh.quote(path)))
      assert.equal(0, status)
      local expected = path:gsub("%.lua$", ".txt")
      if os.getenv("GPULUA_BLESS") then sh.write(expected, output) end
      assert.equal(sh.read(expected), output)
    end)
  end

  it("reports an op that was never run, once", function()
    local output = sh.check(("GPULUA_DEVICE=cpu %s spec/ui/own/stream.lua 2>&1 >/dev/null"):format(PROGRAM))
    assert.equal("gpulua: op made at spec/ui/own/stream.lua:15 was dropped without being run\n", output)
  end)
end)
