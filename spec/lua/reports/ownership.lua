local gpu = require "gpulua"
local show = require "show"

local k = gpu.kernels [[
  #[tile]
  fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
      z.store(x.load_like(z) + y.load_like(z));
  }
  #[tile]
  fn two<const B: i32>(a: &mut Tensor<f32, {[B]}>, b: &mut Tensor<f32, {[B]}>) {
      let t = a.load();
      b.store(t);
  }
  #[kernel]
  fn fill(v: f32, mut z: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      if let Some(out) = z.get_mut(idx) { *out = v; }
  }
]]

local x, y, z = gpu.ones { 1024 }, gpu.arange(1024), gpu.zeros { 1024 }

show("read and written by one launch", function()
  k.add(z:tiles { 128 }, z, y)
end)

show("written twice by one launch", function()
  k.two(z:tiles { 128 }, z:tiles { 128 })
end)

show("overlapping views in one launch", function()
  local first, last = z:slice { 1, 600 }, z:slice { 500, 1024 }
  k.two(first:tiles { 128 }, last:tiles { 128 })
end)

show("views side by side", function()
  k.two(z:slice({ 1, 512 }):tiles { 128 }, z:slice({ 513, 1024 }):tiles { 128 }):sync()
end)

show("interleaved views", function()
  local pairs_of = z:reshape { 512, 2 }
  k.fill(1, pairs_of:slice(nil, { 1, 1 }):reshape { 512 }):sync()
end)

show("used after a move", function()
  local p = z:partition { 128 }
  print(z)
  return p
end)

show("moved twice", function()
  local p = z:partition { 128 }
  local q = z:partition { 64 }
  return p, q
end)

show("a view of a moved tensor", function()
  local view = z:slice { 1, 10 }
  local p = z:partition { 128 }
  local v = view[1]
  return p, v
end)

show("given back", function()
  local p = z:partition { 128 }
  z = p:unpartition()
  print(z)
end)

show("under two names", function()
  local other = z
  local p = other:partition { 128 }
  z:fill(0)
  return p
end)

show("a field", function()
  local model = { weight = gpu.zeros { 8 } }
  local p = model.weight:partition { 8 }
  model.weight:fill(1)
  return p
end)

show("a partition that dies gives its tensor back", function()
  z:partition { 128 }
  print(z:sync())
end)

show("used after it was freed", function()
  local t = gpu.zeros { 4 }
  t:free()
  print(t[1])
end)

show("freed twice", function()
  local t = gpu.zeros { 4 }
  t:free()
  t:free()
end)

show("closed at the end of its scope", function()
  local kept
  do
    local t <close> = gpu.zeros { 4 }
    kept = t
  end
  print(kept[1])
end)

show("closed after it was moved", function()
  local p
  do
    local t <close> = gpu.ones { 4 }
    p = t:partition { 4 }
  end
  print(p:unpartition())
end)

show("written when frozen", function()
  local t = gpu.zeros({ 4 }):freeze()
  print(t)
  t[1] = 2
end)

show("launched on when frozen", function()
  local t = gpu.zeros({ 4 }):freeze()
  k.fill(1, t)
end)

show("read while an op is not run", function()
  local op = k.fill(3, z)
  print(z[1])
  op:run()
end)

show("an op that was dropped holds nothing", function()
  k.fill(4, z)
  print(z[1])
end)

show("freed while an op is not run", function()
  local op = k.fill(3, z)
  z:free()
  op:run()
end)

show("moved while an op is not run", function()
  local op = k.fill(3, z)
  local p = z:partition { 128 }
  op:run()
  return p
end)

show("enqueued ops conflict with nothing", function()
  k.fill(5, z):run()
  k.fill(6, z):run()
  print(z)
  k.add(z:tiles { 128 }, x, y):run()
  local t = z:copy()
  k.fill(0, z):run()
  print(t)
end)

show("an op runs once", function()
  local op = k.fill(1, z)
  op:run()
  op:run()
end)

show("an op is waited for twice", function()
  local op = k.fill(1, z)
  op:sync()
  print(op:sync() == z, op)
end)

show("a refused call takes nothing", function()
  pcall(k.add, z:tiles { 128 }, z, y)
  k.fill(2, z):sync()
  print(z[1])
end)
