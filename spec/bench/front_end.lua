-- How the front end's time grows with the size of a module.
--
--   lua5.4 front_end.lua TIME [SIZES..]
--
-- TIME is the program gp_front_time. Generates a module of each size (default 1k to 20k lines),
-- and prints one JSON object a size: lines, milliseconds for parsing, for all of the definition, and
-- microseconds a line. Linear time is a last column that does not grow.

local time = assert(arg[1], "usage: front_end.lua TIME [LINES..]")
local sizes = {}
for i = 2, #arg do sizes[#sizes + 1] = tonumber(arg[i]) end
if #sizes == 0 then sizes = { 1000, 2000, 5000, 10000, 20000 } end

-- Kernels of both tracks, helpers, structs with methods and generics: what modules are made of.
local template = [[
struct Pair@ { lo: f32, hi: f32 }
impl Pair@ {
    fn width(&self) -> f32 { self.hi - self.lo }
    fn grow(&mut self, by: f32) { self.lo -= by; self.hi += by; }
}
fn limit@(x: f32, p: &Pair@) -> f32 {
    if x < p.lo { p.lo } else if x > p.hi { p.hi } else { x }
}
fn pick@<T: Copy>(a: T, b: T, first: bool) -> T { if first { a } else { b } }

#[kernel]
fn scale@(a: &[f32], b: &[f32], n: u32, mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    let mut pair = Pair@ { lo: 0.0, hi: 1.0 };
    let mut sum = 0.0f32;
    for k in 0..n {
        let step = a[i] * 2.0 + b[i];
        sum += limit@(step, &pair);
        if k % 2 == 0 { pair.grow(0.5); }
        sum = pick@(sum, pair.width(), sum > 0.0);
    }
    if let Some(out) = c.get_mut(idx) { *out = sum; }
}

#[tile]
fn blend@<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
    let tx = x.load_like(z);
    let ty = y.load_like(z);
    let sum = tx + ty * tx;
    let other = sum - ty;
    z.store(other * sum);
}
]]
local _, template_lines = template:gsub("\n", "\n")

local path = os.tmpname()
for _, lines in ipairs(sizes) do
  local file = assert(io.open(path, "wb"))
  for i = 1, math.ceil(lines / template_lines) do file:write((template:gsub("@", tostring(i)))) end
  file:close()
  local pipe = assert(io.popen(("%s %s 5"):format(time, path)))
  local parse, check, errors = pipe:read("n", "n", "n")
  pipe:close()
  assert(errors == 0, "the generated module has errors")
  print(('{"lines": %d, "parse_ms": %.2f, "check_ms": %.2f, "us_per_line": %.3f}'):format(lines, parse,
    check, check * 1000 / lines))
end
os.remove(path)
