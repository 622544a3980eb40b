-- Enqueued ops never conflict with later ones, on any stream.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local a, b = gpu.stream(), gpu.stream()
local x, y, z = gpu.ones{8}, gpu.zeros{8}, gpu.zeros{8}
try(function()
  k.double(x, y):run(a)
  k.double(y, z):run(b)
  x:fill(7)
  k.double(z, x):run(a)
  z:free()
  print(x[1], y[1])
end)
try(function()
  local op = k.double:with{stream = a}(x, y)
  y:fill(0)
  op:run()
end)
