-- docs/numerics.md says what bounds.lua says. BLESS=1 writes it.
local sh = require "spec.support.sh"

describe("docs/numerics.md", function()
  it("is what spec/run/numerics.lua prints", function()
    local build = sh.build()
    local text = sh.check(("GPULUA_DEVICE=cpu %s/gpulua spec/run/numerics.lua"):format(sh.quote(build)))
    if os.getenv "BLESS" then sh.write("docs/numerics.md", text) end
    assert.are.equal(sh.read "docs/numerics.md", text)
  end)
end)
