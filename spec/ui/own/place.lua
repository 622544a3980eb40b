-- A report points at the line that runs, whatever the same function or another at its depth ran before.
local own = require "spec.support.own"
local k, try = own.k, own.try
local x, z = own.gpu.ones{8}, own.gpu.zeros{8}
local function either(is_first)
  if is_first then
    k.double:run(x, x)
  end
  k.double:run(z, z)
end
for i = 1, 3 do
  try(either, i ~= 2)
end
print(select(2, pcall(k.double.run, k.double, x, x)):render())
try(either, true)
local tail = coroutine.wrap(function() return k.double:run(z, z) end)
try(tail)
