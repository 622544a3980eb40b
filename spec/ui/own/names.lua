-- Names in messages: of the argument's own expression, else of a variable, else of the parameter.
local own = require "spec.support.own"
local gpu, k, try = own.gpu, own.k, own.try
local x = gpu.ones{8}

print("-- local")
try(function()
  local mine = gpu.ones{8}
  k.double(mine, mine)
end)

print("-- upvalue")
try(function()
  k.double(x, x)
end)

print("-- global")
shared = gpu.ones{8}
try(function()
  k.double(shared, shared)
end)
try(function()
  shared:fill(1)
  shared:free()
  print(shared)
end)

print("-- field")
local model = { layer = { weight = x, "bias" } }
try(function()
  k.double(model.layer.weight, model.layer.weight)
end)
try(function()
  k.double(model["layer"].weight, x)
end)

print("-- call result")
local function weights()
  return x
end
try(function()
  k.double(weights(), weights())
end)
local function make()
  local t = gpu.ones{8}
  return function() return t end
end
local hidden = make()
try(function()
  k.double(hidden(), hidden())
end)

print("-- alias")
local function consume(tensor)
  return tensor:partition{4}
end
local taken = consume(x)
try(function()
  print(x)
end)
taken = taken:unpartition()
try(function()
  local alias = taken
  k.double(alias, taken)
end)

print("-- view of it")
try(function()
  k.add(x:reshape{8}:tiles{4}, x:slice{1, 8}, taken)
end)

print("-- tail call")
local function launch(a, b)
  return k.double(a, b)
end
try(function()
  return launch(x, x)
end)
local function pass(...)
  return k.double(...)
end
try(pass, x, x)

print("-- multi-line call")
try(function()
  k.add(
    x:tiles{4}, -- written (first)
    gpu.ones{8},
    x
  )
end)

print("-- options in the call")
try(function()
  k.double:with{block = 64}(x, x)
end)

print("-- two calls on a line")
try(function()
  local y = gpu.zeros{8}
  k.double(x, y):sync() k.double(x, x):sync()
end)

print("-- by pcall")
try(k.double, x, x)

print("-- loaded chunk")
local text = [[
local k, a = ...
k.double(a, a)
]]
try(load(text), k, x)
try(load(text, "=chunk"), k, x)

print("-- stripped bytecode")
try(load(string.dump(load(text), true)), k, x)
