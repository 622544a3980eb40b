-- No verdict depends on the collector.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
collectgarbage("stop")
local x, z = gpu.ones{8}, gpu.zeros{8}
try(function()
  k.double(x, z) -- says so on stderr when it is collected
  z:fill(3)
end)
try(function()
  local held = { op = k.double(x, z) }
  held = { held } -- still there
  z:fill(4)
  return held
end)
try(function()
  local p = z:partition{4}
  local ring = { p }
  ring.ring, p = ring, nil
  ring = nil
  print(z[1], p, ring)
end)
collectgarbage("restart")
