-- Mutates one token of a source at a time and compares our parser with rustfmt's.
--
--   lua5.4 mutate.lua DUMP COUNT SEED FILE..
--
-- DUMP is the program gp_parse_dump. A mutant that rustfmt refuses must be refused on the line of
-- rustfmt's first error; one that it formats must parse. Prints each disagreement and the figures.
-- rustfmt is the oracle because it parses and does nothing else.

local dump, count, seed = arg[1], tonumber(arg[2]), tonumber(arg[3])
assert(dump and count and seed and arg[4], "usage: mutate.lua DUMP COUNT SEED FILE..")
math.randomseed(seed)

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local long_puncts = {
  ["..="] = true, ["<<="] = true, [">>="] = true, ["::"] = true, ["->"] = true, ["=>"] = true,
  ["=="] = true, ["!="] = true, ["<="] = true, [">="] = true, ["&&"] = true, ["||"] = true,
  ["+="] = true, ["-="] = true, ["*="] = true, ["/="] = true, [".."] = true,
}

-- Tokens as {first, last}; comments are white space.
local function tokenize(text)
  local tokens, at = {}, 1
  while true do
    at = text:find("%S", at)
    if not at then return tokens end
    local _, last = text:find("^//[^\n]*", at)
    if last then
      at = last + 1
    else
      _, last = text:find("^[%w_]+", at)
      if not last then
        _, last = text:find('^"[^"\\\n]*"', at)
      end
      if not last then
        last = long_puncts[text:sub(at, at + 2)] and at + 2
          or long_puncts[text:sub(at, at + 1)] and at + 1 or at
      end
      tokens[#tokens + 1] = {at, last}
      at = last + 1
    end
  end
end

local kinds = { "delete", "double", "swap", "replace" }

local function mutate(text, tokens)
  local i = math.random(#tokens - 1)
  local a, b, kind = tokens[i], tokens[i + 1], kinds[math.random(#kinds)]
  local before, word, after = text:sub(1, a[1] - 1), text:sub(a[1], a[2]), text:sub(a[2] + 1)
  if kind == "delete" then return before .. after, kind, word end
  if kind == "double" then return before .. word .. " " .. word .. after, kind, word end
  if kind == "swap" then
    local next_word = text:sub(b[1], b[2])
    local gap = text:sub(a[2] + 1, b[1] - 1)
    return before .. next_word .. gap .. word .. text:sub(b[2] + 1), kind, word .. " " .. next_word
  end
  local other = tokens[math.random(#tokens)]
  local new = text:sub(other[1], other[2])
  return before .. new .. after, kind, word .. " -> " .. new
end

-- The lines of the errors in a rustc-style report, its first title, and the lines that the first
-- error marks with carets or dashes.
local function errors_of(report)
  local lines, title, in_error, marked, shown = {}, nil, false, {}, nil
  for line in report:gmatch("[^\n]+") do
    if line:find("^error") then
      in_error = true
      title = title or line
    elseif line:find("^%a") then
      in_error = false
    else
      local number = line:match("^%s*%-%-> .-:(%d+):%d+$")
      shown = tonumber(line:match("^%s*(%d+) |")) or shown
      if #lines == 1 and shown and line:find("^%s+| .*[%^%-]") then marked[shown] = true end
      if number and in_error then
        lines[#lines + 1] = tonumber(number)
        in_error = false
      end
    end
  end
  return lines, title, marked
end

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local out = pipe:read("a")
  local is_ok, how, code = pipe:close()
  return is_ok, out, how, code
end

local function contains(list, value)
  for _, v in ipairs(list) do
    if v == value then return true end
  end
  return false
end

local path = os.tmpname()
local sources = {}
for i = 4, #arg do
  local text = read(arg[i]):gsub("%s+$", "\n") -- the end of the file is a place of errors
  local tokens = tokenize(text)
  if #tokens > 20 then
    sources[#sources + 1] = { name = arg[i], text = text, tokens = tokens }
  end
end

local labelled, refused, same_line, same_first, missed, other_line = 0, 0, 0, 0, 0, 0
local accepted, over_refused, crashed, extra = 0, 0, 0, 0
for n = 1, count do
  local source = sources[math.random(#sources)]
  local text, kind, what = mutate(source.text, source.tokens)
  write(path, text)
  local check = "rustfmt --edition 2024 --check --config error_on_unformatted=false < "
  local _, theirs = run(check .. path)
  local is_ours_ok, ours, how, code = run(dump .. " -q " .. path)
  local their_lines, their_title, their_marks = errors_of(theirs)
  local our_lines, our_title = errors_of(ours)
  local verdict
  if how == "signal" or code > 1 then
    crashed = crashed + 1
    verdict = "CRASH"
  elseif #their_lines > 0 then
    refused = refused + 1
    extra = extra + math.max(0, #our_lines - #their_lines)
    if #our_lines > #their_lines then verdict = "more errors" end
    if is_ours_ok then
      missed = missed + 1
      verdict = "not refused"
    elseif contains(our_lines, their_lines[1]) then
      same_line = same_line + 1
      if our_lines[1] == their_lines[1] then same_first = same_first + 1 end
    elseif their_marks[our_lines[1]] then
      labelled = labelled + 1
    else
      other_line = other_line + 1
      verdict = "other line"
    end
  else
    accepted = accepted + 1
    if not is_ours_ok then
      over_refused = over_refused + 1
      verdict = "refused by us alone"
    end
  end
  if verdict then
    io.write(("%d %s: %s %s `%s`\n   rustfmt %s %s\n   ours    %s %s\n"):format(n, verdict,
      source.name:match("[^/]*$"), kind, what, their_lines[1] or "-", their_title or "-",
      table.concat(our_lines, ","), our_title or "-"))
  end
end
os.remove(path)

local together = same_line + labelled
io.write(("%d mutants, seed %d\n"):format(count, seed))
io.write(("rustfmt refuses %d, we do not refuse %d of them\n"):format(refused, missed))
io.write(("same line %d (%.1f %%), as our first error %d\n"):format(same_line,
  100 * same_line / math.max(1, refused), same_first))
io.write(("on a line that its first error labels %d (together %.1f %%)\n"):format(labelled,
  100 * together / math.max(1, refused)))
io.write(("elsewhere %d\n"):format(other_line))
io.write(("errors beyond rustfmt's: %d\n"):format(extra))
io.write(("rustfmt accepts %d, we refuse %d of them\n"):format(accepted, over_refused))
io.write(("crashes %d\n"):format(crashed))
os.exit(missed + crashed == 0)
