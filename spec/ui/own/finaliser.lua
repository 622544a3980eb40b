-- Finalisers that run in the collection before a verdict may use everything, that call included.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local x, z, big = gpu.ones{8}, gpu.zeros{8}, gpu.ones{64}
local ran = 0
local function leave_finaliser(f)
  setmetatable({}, { __gc = function() ran = ran + 1 f() end })
end
try(function()
  local op = k.double(x, z)
  leave_finaliser(function()
    k.double(big, gpu.zeros{64}):sync() -- the kernel whose call is being checked
    pcall(k.double, big, big)
    pcall(z.nothing)
    local _, err = pcall(function() z:fill(1) end)
    print("inside:", err.code)
  end)
  k.double(x, z)
  return op
end)
print(ran)
try(function()
  local co = coroutine.create(function()
    local p <close> = z:partition{4}
    coroutine.yield(p)
  end)
  local p = select(2, coroutine.resume(co))
  local op = k.add(p, x, x)
  leave_finaliser(function() coroutine.close(co) end)
  k.add(p, x, x) -- its partition is closed meanwhile
  return op
end)
print(ran)
try(function()
  for i = 1, 50 do
    leave_finaliser(function() pcall(k.double, x, x) end)
    pcall(k.double, big, x, i)
    k.double(x, z):sync()
  end
end)
-- Launches without an op: the kernel's last call is another one then, and what is launched in the
-- finaliser does not hide a tensor that is passed twice.
local y = gpu.ones{8}
local function leave_op() k.double(y, x) end
try(function()
  leave_op()
  leave_finaliser(function() k.double:run(big, gpu.zeros{64}) end)
  k.double:run(x, z)
end)
print(ran, z[1])
try(function()
  leave_op()
  leave_finaliser(function() k.double:run(y, z) end)
  k.add:run(z:tiles{4}, x, z)
end)
