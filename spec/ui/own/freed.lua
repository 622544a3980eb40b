-- A use after free names the line that freed.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local z = gpu.zeros{8}
local v = z:slice{1, 4}
z:free()
z:free()
try(function()
  print(z)
end)
try(function()
  k.double(v, gpu.zeros{4})
end)
try(function()
  z:sync()
end)
