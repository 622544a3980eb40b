-- Why kernels with products are not warp-specialised: each reason of core/unpiped.def, met by a kernel
-- that compiles all the same, and told by `info` and in PTX.
--
--   GPULUA_LIBCUDA=.../libgpulua-vgpu.so gpulua spec/vgpu/unpiped.lua
local gpu = require "gpulua"

assert(gpu.device "cuda:0")
local folder = arg[0]:match("^(.*)/[^/]*$") or "."
local reasons, left = {}, {}
for line in io.lines(folder .. "/../../core/unpiped.def") do
  local id, text = line:match('^GP_UNPIPED%((%w+),%s*"(.*)"%)')
  if id then reasons[id], left[id] = text, true end
end

-- A product of a and b; a case has other words for some of it.
local TEXT = [[
  #[tile]
  unsafe fn f<const M: i32, const N: i32>(
      c: &mut Tensor<$OUT, {[M, N]}>, a: &Tensor<$T, {[-1, -1]}>, b: $B, p: *mut bf16) {
      let (i, j, _) = get_tile_block_id();
      let pa = a.partition(shape![M, $K]);
      let mut acc = constant($ZERO, shape![M, N]);
      $BEFORE
      $LOOP {
          let x = pa.load([i, l]);
          let y: Tile<$T, {[$K, N]}> = $LOAD;
          $PRODUCT
      }
      c.store(convert_tile(acc));
  }
]]
local PRESET = {
  OUT = "f32", T = "bf16", ZERO = "0.0f32", K = 64, B = "&Tensor<bf16, {[-1, -1]}>", BEFORE = "let pb = b.partition(shape![$K, N]);",
  LOOP = "for l in 0..num_tiles(&pa, 1)", LOAD = "pb.load([l, j])", PRODUCT = "acc = mma(x, y, acc);",
}

local function source(words)
  local text = TEXT
  for _ = 1, 2 do text = text:gsub("%$(%u+)", function(name) return words[name] or PRESET[name] end) end
  return text
end

local CASES = {
  { "None" },
  { "Asked", with = { stages = 1 } },
  { "Jump", PRODUCT = "if l > 5 { break; } acc = mma(x, y, acc);" },
  { "Rows", M = 32 },
  { "Rows", M = 64, N = 64, with = { warps = 2 } },
  { "Product", T = "f32", B = "&Tensor<f32, {[-1, -1]}>", dtype = "f32", K = 32 },
  { "Computed", PRODUCT = "acc = mma(x + x, y + y, acc);" },
  { "Made", LOAD = "pb.load([l, j])", BEFORE = [[
      let t = make_tensor_view(pointer_to_tile(p), Shape::<{[-1, -1]}> { dims: &[256, 256] }, Array::<{[-1, 1]}> { dims: &[256] }, new_token_unordered());
      let pb = t.partition(shape![$K, N]);]] },
  { "Written", M = 64, B = "&mut Tensor<bf16, {[64, N]}>", BEFORE = "", LOAD = "b.load()", PRODUCT = "acc = mma(x, y, acc); b.store(y + y);", part = true },
  { "Unaligned", width = 250 },
  { "Tile", N = 24 },
  { "Reader", M = 64, PRODUCT = "acc = mma(x, y, acc); acc = acc + convert_tile(y.reshape(shape![M, N]));" },
  { "Layout", T = "tf32", B = "&Tensor<tf32, {[-1, -1]}>", dtype = "tf32", K = 32 },
  { "Loop", LOOP = "let l = 0;" },
  { "Shared", K = 256 },
  { "Registers", M = 256, PRODUCT = "acc = mma(x, y, acc) + mma(x, y, acc * 2.0f32);" },
  { "Slice", LOAD = "pb.load([l + step, j])", BEFORE = [[let pb = b.partition(shape![$K, N]);
      let step: i32 = convert_scalar(tile_to_scalar(reduce_sum(a.load_tile(shape![1, 2], [0, 0]).reshape(shape![2]), 0)));]] },
}

local wrong = 0
local function check(id, said)
  left[id] = nil
  if (said or "") == reasons[id] then return end
  wrong = wrong + 1
  print(("%s: %s instead of %s"):format(id, said, reasons[id]))
end

local function run(case)
  local id, m, n, width = case[1], case.M or 128, case.N or 128, case.width or 256
  local dtype = case.dtype or "bf16"
  local function tensor() return gpu.zeros({ 512, width }, dtype) end
  local c, a, b = gpu.zeros({ 512, 256 }, case.OUT or "f32"), tensor(), tensor()
  local k = gpu.kernels(source(case), id).f
  if case.with then k = k:with(case.with) end
  local info = k:info(c:tiles { m, n }, a, case.part and b:tiles { 64, n } or b, gpu.zeros({ 256, 256 }, "bf16"))
  check(id, info.unpiped)
end

for _, case in ipairs(CASES) do
  local ok, err = pcall(run, case)
  if not ok then
    wrong = wrong + 1
    print(case[1] .. ": " .. tostring(err):match "[^\n]*")
  end
end
local ptx = gpu.kernels(source {}, "target").f:with { M = 128, N = 128 }:inspect("ptx", "sm_80")
check("Target", ptx:match "\n// not warp%-specialised: ([^\n]*)")
for id in pairs(left) do
  wrong = wrong + 1
  print("nothing is refused for " .. id)
end
print(("%d kernels, %d wrong"):format(#CASES + 1, wrong))
os.exit(wrong == 0)
