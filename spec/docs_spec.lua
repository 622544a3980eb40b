-- The documents made from tables are what the tables say now.
local sh = require "spec.support.sh"

describe("docs", function()
  it("follow from the tables", function()
    sh.check(sh.quote(sh.build() .. "/gpulua") .. " spec/support/docs.lua --check")
  end)
end)
