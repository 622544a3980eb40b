-- A view is refused for what became of its base.
local own = require "spec.support.own"
local gpu, try = own.gpu, own.try
local z = gpu.zeros{4, 4}
local row, flat = z:slice(2), z:reshape{16}
local p = z:partition{2, 2}
try(function()
  print(row)
end)
try(function()
  flat:fill(1)
end)
try(function()
  return flat:slice{1, 2}
end)
p:unpartition()
try(function()
  row:partition{1, 2}
end)
try(function()
  row:free()
end)
z:free()
try(function()
  print(flat[1])
end)
