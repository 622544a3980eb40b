-- CTest: slow
-- The bundle: made anew, then used as someone would who has nothing else of ours.
local sh = require "spec.support.sh"

local MAX_BYTES = 20 * 1000 * 1000
local OLDEST_GLIBC = { 2, 34 }
-- What a machine with glibc has; libcuda.so.1 is loaded by name when there is a GPU.
local SYSTEM = { ["libc.so.6"] = true, ["libm.so.6"] = true, ["ld-linux-x86-64.so.2"] = true }

-- Builds of its own, the same whatever build is under test: once is enough.
if (sh.cache("GPULUA_SANITIZE") or "") ~= "" then
  return describe("a build under a sanitizer", function() pending("leaves this to the others") end)
end

describe("the bundle", function()
  local folder, root, archive

  setup(function()
    local made = sh.check("sh spec/support/bundle.sh")
    archive = made:match("(build/%S+%.tar%.xz)")
    folder = sh.check("mktemp -d"):gsub("\n", "")
    sh.check("tar -C " .. folder .. " -xJf " .. archive)
    root = folder .. "/" .. archive:match("([^/]+)%.tar%.xz$")
  end)
  teardown(function() sh.run("rm -rf " .. folder) end)

  local function binaries()
    local found = sh.find(root .. " -type f \\( -name '*.so*' -o -path '*/bin/*' \\)")
    assert.is_true(#found >= 3)
    return found
  end

  it("is small", function()
    local bytes = tonumber(sh.check("stat -c %s " .. archive))
    assert.is_true(bytes <= MAX_BYTES, bytes .. " bytes")
  end)

  it("needs no newer C library than promised, and no other library", function()
    local bad = {}
    for _, path in ipairs(binaries()) do
      local name = path:sub(#root + 2)
      for major, minor, symbol in sh.check("objdump -T " .. path):gmatch("GLIBC_(%d+)%.(%d+)%S*%s+(%S+)") do
        local is_newer = tonumber(major) > OLDEST_GLIBC[1] or tonumber(minor) > OLDEST_GLIBC[2]
        if is_newer then bad[#bad + 1] = name .. " needs " .. symbol .. " of " .. major .. "." .. minor end
      end
      for needed in sh.check("readelf -d " .. path):gmatch("NEEDED%) +Shared library: %[([^%]]+)%]") do
        local is_ours = sh.exists(root .. "/lib/" .. needed)
        if not SYSTEM[needed] and not is_ours then bad[#bad + 1] = name .. " needs " .. needed end
      end
    end
    assert.equal("", table.concat(bad, "\n"))
  end)

  it("exports its API only, and hides LLVM", function()
    for name in sh.check("nm -D --defined-only " .. root .. "/lib/libgpulua.so.0"):gmatch("%x+ [^A] ([^@\n]+)") do
      assert.is_truthy(name:find("^gpulua_") or name == "luaopen_gpulua", name)
    end
  end)

  it("has no path of the machine that built it", function()
    local here = sh.quote(sh.root .. "/")
    local found = sh.run(("grep -rlF %s %s"):format(here, root))
    assert.equal("", found)
  end)

  it("runs the examples from anywhere with an empty environment", function()
    for _, example in ipairs(sh.find(root .. "/examples -name '*.lua'")) do
      local output, status = sh.run(("cd %s && env -i %s/bin/gpulua %s"):format(folder, root, example))
      assert.equal(0, status, example .. "\n" .. output)
    end
    local png = assert(sh.read(folder .. "/mandelbrot.png"))
    assert.equal("\x89PNG", png:sub(1, 4))
  end)

  it("compiles a kernel with device math for a GPU without a CUDA toolkit", function()
    sh.write(folder .. "/math.rs", [[
#[tile]
fn f<const B: i32>(z: &mut Tensor<f32, {[B]}>) { let t = z.load(); z.store(exp(t)); }
]])
    local command = "emit --stage ptx --target sm_90 --with B=128 math.rs"
    local output, status = sh.run(("cd %s && env -i GPULUA_LIBDEVICE=%s %s/bin/gpulua %s"):format(folder,
      root .. "/share/gpulua/nvptx64--.bc", root, command))
    assert.equal(0, status, output)
    assert.is_truthy(output:find(".visible .entry", 1, true), output)
    assert.is_falsy(output:find("call.uni", 1, true), "exp is a call, and nothing defines it")
  end)

  it("is a module of stock Lua", function()
    local command = ([[cd / && env -i LUA_CPATH='%s/lib/lua/5.4/?.so' lua5.4 -e 'print(require "gpulua".arange(4))']])
      :format(root)
    assert.is_truthy(sh.check(command):find("[0, 1, 2, 3]", 1, true))
  end)

  it("builds C programs by pkg-config", function()
    for name, packages in pairs { minimal = "gpulua", existing_state = "gpulua lua5.4" } do
      sh.check(("cd %s && cc -std=c99 -Wall -Werror examples/embed/%s.c -o ../%s -Wl,-z,defs " ..
        "$(PKG_CONFIG_PATH=%s/lib/pkgconfig pkg-config --cflags --libs %s)"):format(root, name, name, root, packages))
      sh.check("cd / && env -i " .. folder .. "/" .. name)
    end
  end)

  it("runs its own specs with its own busted", function()
    sh.write(root .. "/spec/tiny_spec.lua",
      "describe('x', function() it('y', function() assert.equal(4, #require 'gpulua'.arange(4):to_table()) end) end)")
    local output, status = sh.run("cd / && env -i PATH=/usr/bin:/bin " .. root .. "/spec/support/run_specs.sh spec/tiny_spec.lua")
    assert.equal(0, status, output)
    assert.is_truthy(output:find("ok 1 - x y", 1, true), output)
  end)

  it("names the licence of all that is inside", function()
    for name, text in pairs { gpulua = "Apache License", ["llvm-22-dev"] = "LLVM", ["liblua5.4-0"] = "Permission is hereby" } do
      assert.is_truthy(assert(sh.read(root .. "/licenses/" .. name), name):find(text, 1, true), name)
    end
  end)
end)
