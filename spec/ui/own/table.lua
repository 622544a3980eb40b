-- Handles in tables, and tables in tables.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local t = { z = gpu.zeros{8}, list = { gpu.zeros{8}, gpu.ones{8} } }
try(function()
  k.double(t.z, t.z)
end)
try(function()
  local p = t.z:partition{4}
  print(t.z[1], p)
end)
try(function()
  local op = k.double(t.list[2], t.list[1])
  t.list[1]:fill(1)
  print(op)
end)
try(function()
  local same = t.list[1]
  k.double(same, t.list[1])
end)
