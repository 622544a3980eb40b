-- Helps are tried: the changes that a report shows make the program right.
local sh = require "spec.support.sh"

local FILES = {
  "spec/ui/tile/helped_shapes.rs", "spec/ui/tile/helped_names.rs", "spec/ui/tile/helped_numbers.rs", "spec/ui/parse/helped.rs",
}

describe("the changes that are helped with", function()
  local program = sh.quote(sh.build() .. "/gpulua")
  local ok, json = pcall(require, "dkjson")

  -- The offset of a place in the text.
  local function offset(text, line, column)
    local at = 1
    for _ = 2, line do at = text:find("\n", at, true) + 1 end
    return at + column - 1
  end

  -- Each change once, from the last place to the first; the number of diagnostics without one.
  local function changes_of(path, text)
    local changes, seen, unhelped = {}, {}, {}
    for line in sh.run(("%s check --json %s"):format(program, path)):gmatch("[^\n]+") do
      local d = assert(json.decode(line))
      local change = d.suggestions[1]
      if change then
        local first, last = offset(text, change.line, change.column), offset(text, change.end_line, change.end_column)
        local key = first .. ":" .. last .. ":" .. change.replacement
        if not seen[key] then table.insert(changes, { first, last, change.replacement }) end
        seen[key] = true
      else
        table.insert(unhelped, d.rendered)
      end
    end
    table.sort(changes, function(a, b) return a[1] > b[1] end)
    return changes, unhelped
  end

  for _, path in ipairs(FILES) do
    it("make " .. path .. " right", function()
      if not ok then return pending("dkjson is not installed") end
      local text = assert(sh.read(path))
      local changes, unhelped = changes_of(path, text)
      assert.are.same({}, unhelped)
      assert.is_true(#changes > 4)
      for _, change in ipairs(changes) do
        text = text:sub(1, change[1] - 1) .. change[3] .. text:sub(change[2])
      end
      local changed = os.tmpname() .. ".rs"
      sh.write(changed, text)
      local said, status = sh.run(("%s check %s 2>&1"):format(program, changed))
      os.remove(changed)
      assert.are.equal(0, status, said)
    end)
  end
end)
