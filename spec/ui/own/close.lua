-- A <close> variable frees at the end of its scope, and leaves a moved or borrowed handle alone.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local kept, p, op
do
  local z <close> = gpu.zeros{8}
  kept = z
end
try(function()
  print(kept)
end)
do
  local z <close> = gpu.zeros{8}
  p = z:partition{4}
end
try(function()
  print(p:unpartition())
end)
local x = gpu.ones{8}
do
  local z <close> = gpu.zeros{8}
  op = k.double(x, z)
end
try(function()
  print(op:sync())
end)
try(function()
  local q <close> = x:partition{4}
  print(q)
end)
try(function()
  print(x)
end)
