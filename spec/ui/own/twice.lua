-- An op runs once; sync after run only waits.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local x, z = gpu.ones{8}, gpu.zeros{8}
local op = k.double(x, z)
op:run()
try(function()
  op:run()
end)
try(function()
  print(op:sync()[8])
end)
local again = op
try(function()
  again:run()
end)
