-- CTest: slow
-- The C programs of examples/embed, built against the installed package as a user builds them.
local sh = require "spec.support.sh"

local PROGRAMS = {
  minimal = { packages = "gpulua", prints = { "axpy of 1000 elements, 0 wrong", "refused, E0502: cannot borrow" } },
  borrow = { packages = "gpulua", prints = { "given back: 3 .. 18, and beside the image 7" } },
  graph = { packages = "gpulua", prints = { "200 steps later 77% of the heat is left" } },
  existing_state = {
    packages = "gpulua lua5.4",
    prints = { "from the script: 0 1 4 9 16", "from the application: 3 6 9 12 15", "an error: script:10: bad argument #1 to 'arange'" },
  },
}
local LANGUAGES = {
  { name = "C", compile = "cc -x c -std=c99 -Wall -Wextra -Wpedantic -Werror" },
  { name = "C++", compile = "c++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror" },
}

-- Leaks and wrong accesses of the whole process, LLVM's included; what LLVM and the loader keep
-- until the end of the process stays reachable and is no leak.
local VALGRIND = "valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite" ..
  " --show-leak-kinds=definite"

describe("an application in C", function()
  local sanitizer = sh.cache("GPULUA_SANITIZE") or ""
  local folder, prefix, pkg_config

  setup(function()
    folder = sh.check("mktemp -d"):gsub("\n", "")
    prefix = folder .. "/installed"
    -- Stripped as packages are: valgrind fails on forms of DWARF that it does not know.
    sh.check("cmake --install " .. sh.quote(sh.build()) .. " --strip --prefix " .. prefix)
    pkg_config = "PKG_CONFIG_PATH=" .. prefix .. "/lib/pkgconfig pkg-config "
  end)
  teardown(function() sh.run("rm -rf " .. folder) end)

  for name, program in pairs(PROGRAMS) do
    for _, language in ipairs(LANGUAGES) do
      local binary = name .. language.name
      it(("%s builds as %s and runs"):format(name, language.name), function()
        local options = sh.check(pkg_config .. "--cflags --libs " .. program.packages):gsub("\n", " ")
        local flags = sanitizer == "" and " -Wl,-z,defs" or " -fsanitize=" .. sanitizer
        sh.check(("cd %s && %s %s -o %s/%s %s %s"):format(folder, language.compile,
          sh.quote(sh.root .. "/examples/embed/" .. name .. ".c"), folder, binary, options, flags))
        local printed = sh.check("cd / && env -u LD_LIBRARY_PATH GPULUA_DEVICE=cpu " .. folder .. "/" .. binary)
        for _, text in ipairs(program.prints) do
          assert.is_truthy(printed:find(text, 1, true), ("no %q in\n%s"):format(text, printed))
        end
      end)
    end

    it(name .. " loses no memory and touches none that is not its own", function()
      if sanitizer ~= "" then return end -- the run above has shown it
      if not sh.has("valgrind") then return pending("valgrind is not installed") end
      sh.check(("GPULUA_DEVICE=cpu %s %s/%sC"):format(VALGRIND, folder, name))
    end)
  end

  it("builds from a checkout as README says", function()
    if sanitizer ~= "" then return end
    local readme = sh.read("README.md"):gsub("\n", " ")
    local line = assert(readme:match("`(cc %-Icore/include app%.c [^`]*)`"))
    local lua = assert(readme:match("`(%$%(pkg%-config [^`]*lua5%.4%))` behind the rest of that line"))
    line = line:gsub("%$PWD/build/release", sh.build()):gsub("build/release", sh.build()) .. " -o " .. folder .. "/app"
    for name, program in pairs(PROGRAMS) do
      local command = line:gsub("app%.c", "examples/embed/" .. name .. ".c")
      sh.check(("cd %s && %s %s"):format(sh.quote(sh.root), command, program.packages:find "lua" and lua or ""))
      assert.is_truthy(sh.check("GPULUA_DEVICE=cpu " .. folder .. "/app"):find(program.prints[1], 1, true))
    end
  end)

  it("the C header is C99 and C++98, alone", function()
    for _, compile in ipairs { "cc -x c -std=c99", "c++ -x c++ -std=c++98" } do
      sh.check("echo '#include <gpulua.h>' | " .. compile .. " -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Wno-long-long -I " ..
        prefix .. "/include -")
    end
  end)
end)
