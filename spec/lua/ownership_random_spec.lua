-- 500 generated scripts over names, tables, views, partitions, ops, coroutines and the collector:
-- every statement gets the verdict that spec/support/ownership_model.lua gives. OWN_SEED chooses
-- other scripts, OWN_COUNT how many. GPULUA_DEVICE: another device than the CPU.
local gpu = require "gpulua"
local model = require "spec.support.ownership_model"
local own = require "spec.support.own"

local COUNT, STATEMENTS = tonumber(os.getenv("OWN_COUNT")) or 500, 40

local hold = function(value)
  local step = coroutine.wrap(function(held)
    coroutine.yield()
    return held
  end)
  step(value)
  return step
end

-- The line of the other side, from the labels of the report.
local function blamed_line(err)
  return math.tointeger(tonumber(err:json():match('"line":(%d+),[^{}]-"primary":false')))
end

-- What the script's statements get.
local function run(text)
  local verdicts = {}
  local function S(f)
    local ok, err = pcall(f)
    local verdict = { code = "ok" }
    if not ok then
      assert(type(err) == "userdata", err)
      verdict = { code = err.code, line = err.line, blamed = blamed_line(err) }
    end
    verdicts[#verdicts + 1] = verdict
  end
  assert(load(text))(gpu, own.k, S, hold, gpu.stream())
  return verdicts
end

local function describe_verdict(v)
  return ("%s%s"):format(v.code, v.blamed and ", blames line " .. v.blamed or "")
end

local function compare(text, expected, got)
  for i, want in ipairs(expected) do
    local is_line_right = got[i].line == nil or got[i].line == want.line
    if describe_verdict(want) ~= describe_verdict(got[i]) or not is_line_right then
      local n = 0
      local numbered = text:gsub("[^\n]+", function(line) n = n + 1 return n .. "\t" .. line end)
      error(("line %d: the rules say %s, the runtime %s (line %s)\n%s"):format(want.line,
        describe_verdict(want), describe_verdict(got[i]), got[i].line, numbered), 0)
    end
  end
end

describe("ownership of generated scripts", function()
  it("is what the model says", function()
    local first = tonumber(os.getenv("OWN_SEED")) or 1
    local codes = {}
    for seed = first, first + COUNT - 1 do
      local text, expected = model.script(seed, STATEMENTS)
      local ok, err = pcall(compare, text, expected, run(text))
      if not ok then error(("seed %d, %s"):format(seed, err), 0) end
      for _, verdict in ipairs(expected) do codes[verdict.code] = (codes[verdict.code] or 0) + 1 end
    end
    -- the generator reaches every rule
    for _, code in ipairs{ "ok", "E0382", "E0499", "E0502", "E0505", "E0506", "E0507", "E0596", "G0302" } do
      assert.is_true((codes[code] or 0) * 4 >= COUNT / 25, code .. " is rare: " .. (codes[code] or 0))
    end
    if os.getenv("OWN_COUNT") then
      for code, n in pairs(codes) do print(code, n) end
    end
  end)
end)
