-- Programs that gpulua refuses, with what it says: first kernels, then launches.
local gpu = require "gpulua"

local function show(title, f)
  local ok, err = pcall(f)
  print("-- " .. title)
  print(ok and "accepted" or err:render())
  print()
end

show("the witness is used after get_mut took it", function()
  gpu.kernels [[
    #[kernel]
    fn vecadd(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
        let idx = thread::index_1d();
        if let Some(out) = c.get_mut(idx) {
            *out = a[idx.get()] + b[idx.get()];
        }
    }
  ]]
end)

local k = gpu.kernels [[
  #[tile]
  fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
      z.store(x.load_like(z) + y.load_like(z));
  }
]]

local x, y, z = gpu.ones{1024}, gpu.arange(1024), gpu.zeros{1024}

show("a tensor is read and written by one launch", function()
  k.add(z:tiles{128}, z, y)
end)

show("a tensor is used after it was moved into a partition", function()
  local p = z:partition{128}
  print(z)
end)

show("a tensor is used after it was freed", function()
  x:free()
  k.add(z:tiles{128}, x, y)
end)

show("a dtype does not fit", function()
  k.add(z:tiles{128}, gpu.zeros({1024}, "f16"), y)
end)
