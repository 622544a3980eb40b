-- What an earlier call left in a register that is not in use holds nothing.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local x, z = gpu.ones{8}, gpu.zeros{8}
local a, t = 0, {}
local function leave()
  local p = z:partition{4}
  k.add(p, x, x):sync()
  return 5
end
try(function()
  leave()
  print(z[1])
  leave()
  local first = z[2]
  leave()
  a = z[3]
  print(first, a)
end)
try(function()
  leave()
  z[1] = 7
  leave()
  z[2], a = 8, 9
  print(z[1], z[2], a)
end)
try(function()
  leave()
  t[leave()], z[3] = { 1 }, 3
  print(t[5][1], z[3])
  t = { leave(), { 4 }, z[3], { 5 }, z[3] + z[3] * 2 }
  print(t[2][1], t[3], t[4][1], t[5])
end)
try(function()
  return { z:partition{4}, z[1] } -- this one is in use
end)
try(function()
  local q = z:partition{4}
  a = z[1]
  return q
end)
