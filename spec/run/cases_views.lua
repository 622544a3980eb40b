-- Views of tensors in tile kernels: tensors that kernels make of pointers, against plain Lua.
local gpu = require "gpulua"

local KERNELS = [[
  unsafe fn matrix(p: *mut f32, rows: i32, columns: i32, stride: i32) -> Tensor<f32, {[-1, -1]}> {
      let shape: Shape<{[-1, -1]}> = Shape::<{[-1, -1]}> { dims: &[rows, columns] };
      let strides: Array<{[-1, 1]}> = Array::<{[-1, 1]}> { dims: &[stride] };
      make_tensor_view(pointer_to_tile(p), shape, strides, new_token_unordered())
  }
  #[tile]
  unsafe fn double_raw(to: *mut f32, from: *mut f32, rows: i32, columns: i32, stride: i32) {
      let x = matrix(from, rows, columns, stride);
      let mut y = matrix(to, rows, columns, columns).partition_full_mut(shape![4, 8]);
      let tile = x.partition(shape![4, 8]).load([program_id(0), program_id(1)]);
      y.store(tile + tile, [program_id(0), program_id(1)]);
  }
  #[tile]
  unsafe fn double_nested(to: *mut f32, from: *mut f32, rows: i32, columns: i32, stride: i32) {
      let x = matrix(from, rows, columns, stride);
      let mut whole = matrix(to, rows, columns, columns);
      let mut y = whole.partition_mut(shape![4, 8]);
      let tile = x.partition(shape![4, 8]).load([program_id(0), program_id(1)]);
      y.store(tile + tile, [program_id(0), program_id(1)]);
  }
  #[tile]
  unsafe fn shift(p: *mut f32, n: i32) {
      let x = make_tensor_view(pointer_to_tile(p), Shape::<{[-1]}> { dims: &[n] }, const_array![1], new_token_unordered());
      let y = make_tensor_view(pointer_to_tile(p).offset(1), Shape::<{[-1]}> { dims: &[n] }, const_array![1], new_token_unordered());
      let tile = x.partition(shape![8]).load([0]);
      y.partition_full_mut(shape![8]).store(tile + 1.0, [0]);
      x.partition_full_mut(shape![8]).store(x.partition(shape![8]).load([0]) * 2.0, [0]);
  }
]]

local checks = {}

-- A view of some of the columns, ragged on both axes.
function checks.raw(h, k, wrong)
  for _, size in ipairs { { 4, 8, 8 }, { 5, 7, 9 }, { 9, 20, 31 } } do
    local rows, columns, stride = table.unpack(size)
    local x, y = gpu.arange(rows * stride), nil
    local grid = { (rows + 3) // 4, (columns + 7) // 8 }
    -- a tensor that the kernel made has no tile of the block's own: partition_mut is of all of it
    for _, name in ipairs { "double_nested", "double_raw" } do
      y = gpu.zeros { rows * columns }
      k[name]:with { grid = grid }(y, x, rows, columns, stride):sync()
      for i = 0, rows - 1 do
        for j = 0, columns - 1 do
          h.check(y[i * columns + j + 1] == 2 * (i * stride + j), "%s %d %d of %s", name, i, j, table.concat(size, " "))
        end
      end
    end
    if stride ~= columns then
      wrong.double_raw:with { grid = grid }(y, x, rows, columns, stride):sync()
      h.mutant(y[columns + 1] == 2 * stride, "stride")
    end
  end
end

-- Two views of the same elements: what one stores the other reads.
function checks.overlap(h, k)
  local x = gpu.arange(9)
  k.shift:with { grid = 1 }(x, 8):sync()
  for i, want in ipairs { 0, 2, 4, 6, 8, 10, 12, 14, 8 } do
    h.check(x[i] == want, "shift %d: %s, expected %s", i, x[i], want)
  end
end

return function(h)
  local k, wrong
  for _, name in ipairs { "raw", "overlap" } do
    h.group("views." .. name, function()
      k = k or gpu.kernels(KERNELS, "cases_views")
      wrong = wrong or gpu.kernels((KERNELS:gsub("columns, stride%);", "columns, columns);")), "cases_views")
      checks[name](h, k, wrong)
    end)
  end
end
