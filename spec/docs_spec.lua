-- The documents made from tables are what the tables say now.
describe("docs", function()
  it("follow from the tables", function()
    local gpulua = assert(os.getenv "GPULUA_BUILD", "run under CTest") .. "/gpulua"
    assert.is_true(os.execute(gpulua .. " spec/support/docs.lua --check"))
  end)
end)
