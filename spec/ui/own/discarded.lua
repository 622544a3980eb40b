-- A partition that nobody holds gives its storage back, before any verdict.
local own = require "spec.support.own"
local gpu, try = own.gpu, own.try
local z = gpu.zeros{8}
try(function()
  z:partition{4}
  print(z)
end)
try(function()
  local p = z:partition{4}
  p = nil
  z:fill(1)
  return p
end)
try(function()
  local p = z:partition{4}
  print(z, p)
end)
try(function()
  print(z)
end)
