-- A frozen tensor is read by many and written by nobody.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local w = gpu.ones{8}
local z = gpu.zeros{8}
local writing = k.double(z, w)
try(function()
  w:freeze()
end)
writing:sync()
w:freeze()
try(function()
  k.add(z:tiles{4}, w, w):sync()
  print(z)
end)
try(function()
  w:fill(0)
end)
try(function()
  k.double(z, w)
end)
try(function()
  w:partition{4}
end)
try(function()
  local part = w:slice{1, 4}
  part[1] = 5
end)
