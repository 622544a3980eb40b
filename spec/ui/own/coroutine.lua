-- A coroutine that is suspended holds what its variables hold.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local x, z = gpu.ones{8}, gpu.zeros{8}
local co = coroutine.create(function(t)
  local p = t:partition{4}
  coroutine.yield(p.grid)
  return p
end)
assert(coroutine.resume(co, z))
try(function()
  print(z)
end)
co = nil
try(function()
  print(z[1])
end)
local step = coroutine.wrap(function()
  local op = k.double(x, z)
  coroutine.yield()
  op:run()
  coroutine.yield()
end)
step()
try(function()
  z:fill(1)
end)
step()
try(function()
  z:fill(1)
end)
local err = select(2, pcall(coroutine.wrap(function()
  k.double(z, z)
end)))
print(err:render())
