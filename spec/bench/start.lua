-- Process start: `gpulua -e ""` against `lua5.4 -e ""`, from spawn to exit, measured from C.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"

-- Stock Lua, or where it is not installed its library, opened by a C program in the same way.
local function stock_lua()
  if os.execute("command -v lua5.4 >/dev/null 2>&1") then return "lua5.4", "lua5.4" end
  return bench.c_program() .. " lua", "liblua5.4 opened from C"
end

bench.main("start", function()
  local c = bench.c()
  local lua, lua_name = stock_lua()
  -- The peer splits at spaces and gives the last word, which is empty, as an argument.
  local function spawn(command)
    return function() return (c:ask("spawn", (command:gsub("'", "")), "-e", "")) end
  end
  local r = bench.alternate(bench.option("rounds", 60), {
    { "ours", spawn(bench.program) },
    { "lua", spawn(lua) },
    { "nothing", spawn(bench.c_program() .. " nothing") },
  })
  bench.emit({
    row = "start", no_device = true, value = r.ours.median * 1e3, unit = "ms", best = r.ours.min * 1e3,
    ratio = bench.ratio(r.ours, r.lua), peer = lua_name, peer_value = r.lua.median and r.lua.median * 1e3,
    peer_error = r.lua.error, over_peer = r.lua.median and (r.ours.median - r.lua.median) * 1e3,
    empty_c_program = r.nothing.median and r.nothing.median * 1e3,
  }, { 15, r.lua.median and r.lua.median * 1e3 + 5 or 5, "lower" }, "value")
end)
