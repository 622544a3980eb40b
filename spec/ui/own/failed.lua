-- A call that fails a check takes nothing.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local x, z = gpu.ones{8}, gpu.zeros{8}
local small, frozen = gpu.ones({8}, "f16"), gpu.ones{8}:freeze()
try(function()
  k.double(small, z)
end)
try(function()
  k.double(z, frozen)
end)
try(function()
  z:partition{4, 4}
end)
try(function()
  k.add(z:tiles{4}, x, z)
end)
try(function()
  k.double(x, z):sync()
  print(z[1], x[1])
end)
