-- All names of a handle are one value; a message names the one used and the one moved.
local own = require "spec.support.own"
local gpu, try = own.gpu, own.try
local z = gpu.zeros{8}
local other = z
local p = z:partition{4}
try(function()
  print(other)
end)
try(function()
  print(z)
end)
try(function()
  print(p:unpartition().shape[1], other[1])
end)
