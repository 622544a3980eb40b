-- p:unpartition() gives the tensor back; the partition is moved.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local x, z = gpu.ones{8}, gpu.zeros{8}
local p = z:partition{4}
try(function()
  k.add(p, x, x):sync()
end)
local op = k.add(p, x, x)
try(function()
  p:unpartition()
end)
op:sync()
try(function()
  z:free()
end)
local back = p:unpartition()
try(function()
  print(back, z)
end)
try(function()
  k.add(p, x, x)
end)
try(function()
  p:unpartition()
end)
