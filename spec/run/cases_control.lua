-- Control flow, helpers, generics, integers at their ends, failed checks: each kernel against the
-- same program in Lua.
local gpu = require "gpulua"
local formats = require "formats"

-- name, the kernel's text, what it computes of element i (from 0) with value v, and a change of
-- one operator that must show. Kernels are (x: &[i32], mut z: DisjointSlice<i32>).
local SIMT = {
  { "collatz", [[
      let mut v = a;
      let mut n = 0;
      while v != 1 && n < 200 {
          v = if v % 2 == 0 { v / 2 } else { 3 * v + 1 };
          n += 1;
      }
      n]], function(a)
      local n = 0
      while a ~= 1 and n < 200 do a, n = a % 2 == 0 and a // 2 or 3 * a + 1, n + 1 end
      return n
    end, { "3 %* v %+ 1", "3 * v - 1" } },
  { "nested", [[
      let mut s = 0;
      for p in 0..a % 7 {
          if p == 4 { continue; }
          for q in p..5 {
              if p * q > 9 { break; }
              s += p * 10 + q;
          }
      }
      s]], function(a)
      local s = 0
      for p = 0, a % 7 - 1 do
        if p ~= 4 then
          for q = p, 4 do
            if p * q > 9 then break end
            s = s + p * 10 + q
          end
        end
      end
      return s
    end, { "p %* q > 9", "p * q >= 9" } },
  { "operators", [[
      use core::ops::{Add, Mul, Neg};
      #[derive(Clone, Copy)]
      struct V { p: i32, q: i32 }
      impl Mul<i32> for V { type Output = V; fn mul(self, k: i32) -> V { V { p: self.p * k, q: self.q * k } } }
      impl Mul<V> for V { type Output = i32; fn mul(self, o: V) -> i32 { self.p * o.p + self.q * o.q } }
      impl Add for V { type Output = V; fn add(self, o: V) -> V { V { p: self.p + o.p, q: self.q + o.q } } }
      impl Neg for V { type Output = V; fn neg(self) -> V { V { p: -self.p, q: -self.q } } }
      fn twice<T: Add<Output = T> + Copy>(t: T) -> T { t + t }
      fn scaled<T: Mul<i32>>(t: T) -> <T as Mul<i32>>::Output { t * 2 }
      let v = V { p: a % 100, q: 3 };
      (-twice(scaled(v))) * v + twice(v.p)]], function(a)
      local p = math.fmod(a, 100)
      return -4 * p * p - 36 + 2 * p
    end, { "self.q %* o.q", "self.q + o.q" } },
  { "closures", [[
      fn both<F: FnMut(i32) -> i32>(mut f: F, v: i32) -> i32 { let w = f(v); f(w) }
      let mut n = a % 1000;
      let mut add = |d: i32| n += d;
      add(10);
      add(100);
      let mut calls = 0;
      let t = both(|v| { calls += 1; if v > 3 { return v - 3; } v + 1 }, a % 10);
      let mut row = [0; 4];
      let mut put = |j: usize, v: i32| { row[j] = v; row[j] * 2 };
      let s = put(0, 5) + put(1, 6);
      for j in 0..3 {
          let mut skip = || if j != 1 { n += j };
          skip();
      }
      let m = &mut calls;
      let mut more = || *m += 10;
      more();
      more();
      n + t * 2 + calls * 3 + row[0] + row[1] + s]], function(a)
      local function f(v) return v > 3 and v - 3 or v + 1 end
      return math.fmod(a, 1000) + 112 + 2 * f(f(math.fmod(a, 10))) + 22 * 3 + 11 + 22
    end, { "n %+= d", "n -= d" } },
  { "early", [[
      if a % 3 == 0 { return; }
      if a % 3 == 1 { a * 2 } else { a - 5 }]], function(a)
      if a % 3 == 0 then return -1 end
      return a % 3 == 1 and a * 2 or a - 5
    end, { "a %- 5", "a + 5" } },
  { "loops", [[
      let mut n = 0;
      let found = loop {
          n += 1;
          if n * n >= a { break n; }
      };
      found * 100 + n]], function(a)
      local n = 0
      repeat n = n + 1 until n * n >= a
      return n * 101
    end, { ">= a", "> a" } },
  { "matches", [[
      match a % 5 { 0 => 10, 1 | 2 => a, 3 if a > 50 => -a, _ => a ^ 21 }]], function(a)
      local r = a % 5
      if r == 0 then return 10 end
      if r <= 2 then return a end
      return (r == 3 and a > 50) and -a or a ~ 21
    end, { "a %^ 21", "a | 21" } },
  { "helper", "gcd(a, 36) + twice(a) + pick::<3>(a)", function(a)
      local p, q = a, 36
      while q ~= 0 do p, q = q, p % q end
      return p + 2 * a + a % 3
    end, { "t %+ t", "t - t" } },
  { "shadow", [[
      let v = a + 1;
      let v = { let w = v * v; w - a };
      let (p, q) = (v / 3, v % 3);
      p * 1000 + q]], function(a)
      local v = (a + 1) * (a + 1) - a
      return v // 3 * 1000 + v % 3
    end, { "w %- a", "w + a" } },
  { "logic", [[
      let p = a > 10 && a < 60 || a == 77;
      let q = !p ^ (a & 1 == 0);
      (p as i32) * 2 + q as i32]], function(a)
      local p = a > 10 and a < 60 or a == 77
      local q = (not p) ~= (a & 1 == 0)
      return (p and 2 or 0) + (q and 1 or 0)
    end, { "a < 60", "a <= 60" } },
  { "tables", [=[
      let p = a as usize % 2;
      let q = a as usize % 3;
      let mut own = PLATES[1 - p];
      own[q][p] += 7;
      PLATES[p][q][1] * 100 + [[1, 2, 3], [4, 5, 6]][p][q] * 10 + own[q][p]]=], function(a)
      local p, q = a % 2, a % 3
      local function plate(i, j, k) return i * 6 + j * 2 + k end
      return plate(p, q, 1) * 100 + (p * 3 + q + 1) * 10 + plate(1 - p, q, p) + 7
    end, { "%[p%]%[q%]%[1%]", "[p][q][0]" } },
  { "statics", [=[
      let steps = &STEPS;
      STEPS[a as usize % 3] * 10 + steps[1] + START.0]=], function(a)
      return ({ 3, 5, 7 })[a % 3 + 1] * 10 + 5 + 4
    end, { "START%.0", "START.1" } },
}

local HELPERS = [=[
  static STEPS: [i32; 3] = [3, 5, 7];
  static START: (i32, i32) = (4, 6);
  const PLATES: [[[i32; 2]; 3]; 2] = [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]];
  fn gcd(a: i32, b: i32) -> i32 {
      let mut p = a;
      let mut q = b;
      while q != 0 {
          let r = p % q;
          p = q;
          q = r;
      }
      p
  }
  fn twice(t: i32) -> i32 { t + t }
  fn pick<const N: i32>(v: i32) -> i32 { v % N }
]=]

local function simt_text(name, body)
  -- A kernel that returns early leaves its element as it was.
  local is_early = body:find("return;", 1, true)
  local head = ("#[kernel]\nfn %s(x: &[i32], mut z: DisjointSlice<i32>) { let idx = thread::index_1d(); let i = idx.get(); let a = if i < x.len() { x[i] } else { 1 };\n"):format(name)
  if is_early then
    return head .. body:gsub("\n%s*if a %% 3 == 1", "\nlet v = if a %% 3 == 1") .. ";\nif let Some(out) = z.get_mut(idx) { *out = v; } }\n"
  end
  return head .. "if let Some(out) = z.get_mut(idx) { *out = {" .. body .. "}; } }\n"
end

local function operand(n)
  local t = {}
  for i = 1, n do t[i] = (i * 37) % 101 + 1 end
  return t
end

local function check_simt(h)
  for _, case in ipairs(SIMT) do
    h.group("control.simt." .. case[1], function()
      local text = HELPERS .. simt_text("right", case[2])
      local changed, count = (HELPERS .. simt_text("right", case[2])):gsub(case[4][1], (case[4][2]:gsub("%%", "%%%%")))
      assert(count >= 1, "nothing was changed")
      local right, wrong = gpu.kernels(text, case[1]), gpu.kernels(changed, case[1])
      for _, n in ipairs { 1, 7, 1000, 1025 } do
        local values = operand(n)
        local x, z, w = gpu.from_table(values, "i32"), gpu.full({ n }, -1, "i32"), gpu.full({ n }, -1, "i32")
        right.right(x, z):sync()
        wrong.right(x, w):sync()
        local got, other, differs = z:to_table(), w:to_table(), false
        for i = 1, n do
          local want = case[3](values[i])
          if got[i] ~= want then h.fail("%s of %d is %d, expected %d", case[1], values[i], got[i], want) break end
          differs = differs or other[i] ~= want
        end
        h.check(true)
        if n == 1025 then h.mutant(not differs, case[1]) end
      end
    end)
  end
end

local TILE = [[
  fn poly<const N: i32>(x: Tile<f32, {[N]}>) -> Tile<f32, {[N]}> { x * x + 1.0 }
  #[tile]
  fn repeats<const A: i32>(z: &mut Tensor<f32, {[A]}>, x: &Tensor<f32, {[-1]}>, n: i32) {
      let mut acc = x.load_like(z);
      for i in 0..n {
          if i % 2 == 0 { acc = acc + 1.0; } else { acc = acc * 0.5; }
      }
      z.store(poly(acc));
  }
  #[tile]
  fn rows<const A: i32, const B: i32>(z: &mut Tensor<f32, {[A]}>, x: &Tensor<f32, {[-1]}>) {
      let mut i = 0;
      let mut acc = constant(0.0, shape![A]);
      while i < B {
          acc = acc + x.load_tile(shape![A], [i]);
          i += 1;
      }
      z.store(acc);
  }
  #[tile]
  fn generic<T: FloatElement, const A: i32>(z: &mut Tensor<T, {[A]}>, x: &Tensor<T, {[-1]}>) {
      z.store(exp2(x.load_like(z)) * x.load_like(z));
  }
]]

local function check_tile(h)
  h.group("control.tile.loops", function()
    local k = gpu.kernels(TILE, "tile")
    local changed = gpu.kernels((TILE:gsub("acc %+ 1%.0", "acc - 1.0")), "tile")
    for _, n in ipairs { 0, 1, 4, 9 } do
      local z, w, x = gpu.zeros { 100 }, gpu.zeros { 100 }, gpu.arange(100)
      k.repeats(z:tiles { 32 }, x, n):sync()
      changed.repeats(w:tiles { 32 }, x, n):sync()
      local differs, got = false, z:to_table()
      for i = 0, 99 do
        local acc = i
        for s = 0, n - 1 do acc = s % 2 == 0 and acc + 1 or acc * 0.5 end
        local want = formats.round(formats.of.f32, acc * acc + 1)
        if got[i + 1] ~= want then h.fail("%d turns of %d give %s, expected %s", n, i, got[i + 1], want) break end
        differs = differs or w[i + 1] ~= want
      end
      h.check(true)
      if n > 0 then h.mutant(not differs, "repeats") end
    end
  end)
  h.group("control.tile.while", function()
    local k = gpu.kernels(TILE, "tile")
    local z = gpu.zeros { 32 }
    k.rows:with { B = 5 }(z:tiles { 32 }, gpu.arange(32 * 5)):sync()
    for i = 1, 32 do
      local want = 5 * (i - 1) + 32 * 10
      if not h.check(z[i] == want, "sum %d is %s, expected %s", i, z[i], want) then break end
    end
  end)
  h.group("control.tile.generics", function()
    local k = gpu.kernels(TILE, "tile")
    for _, dtype in ipairs { "f64", "f32", "f16", "bf16" } do
      local x, z = gpu.from_table({ 0, 1, 2, 3, 4 }, dtype), gpu.zeros({ 5 }, dtype)
      k.generic(z:tiles { 8 }, x):sync()
      for i, want in ipairs { 0, 2, 8, 24, 64 } do
        h.check(z[i] == want, "exp2(x) * x in %s at %d is %s", dtype, i - 1, z[i])
      end
    end
  end)
end

local ENDS = [[
  #[kernel]
  fn ends(x: &[i32], y: &[i32], mut q: DisjointSlice<i32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      if let Some(out) = q.get_mut(idx) { *out = x[i] / y[i]; }
  }
  #[kernel]
  fn past(x: &[f32], at: u32, mut z: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get() + at as usize;
      if let Some(out) = z.get_mut(idx) {
          *out = x[i];
      }
  }
  #[kernel]
  fn asserts(x: &[f32], mut z: DisjointSlice<f32>) {
      let idx = thread::index_1d();
      let i = idx.get();
      assert!(i >= x.len() || x[i] >= 0.0);
      if let Some(out) = z.get_mut(idx) { *out = x[i]; }
  }
]]

local function check_failures(h)
  local k
  h.group("control.failed_checks", function()
    k = gpu.kernels(ENDS, "ends")
    local min = -(1 << 31)
    local x = gpu.from_table({ min, min, 7, -7, 7, -7 }, "i32")
    local y = gpu.from_table({ -1, 1, 2, 2, -2, -2 }, "i32")
    local q = gpu.zeros({ 6 }, "i32")
    k.ends(x, y, q):sync()
    for i, want in ipairs { min, min, 3, -3, -3, 3 } do
      h.check(q[i] == want, "quotient %d is %s, expected %d", i - 1, q[i], want)
    end

    local zero = gpu.from_table({ 1, 1, 1, 0, 1, 1 }, "i32")
    local ok, err = pcall(function() k.ends(x, zero, q):sync() end)
    h.check(not ok and err.code == "G0403", "division by zero: %s", ok or err.code)
    h.check(tostring(err):find("thread (3, 0, 0)", 1, true) ~= nil, "the thread of %s", tostring(err))
    k.ends(x, y, q:fill(0)):sync()
    h.check(q[1] == min, "the launch after a failed one")

    local a, z = gpu.arange(300), gpu.zeros { 300 }
    ok, err = pcall(function() k.past(a, 40, z):sync() end)
    h.check(not ok and err.code == "G0401", "an index past the end: %s", ok or err.code)
    k.past(a, 0, z:fill(0)):sync()
    h.check(z[300] == 299, "the launch after a failed index")

    local b = gpu.from_table { 1, 2, -3, 4 }
    local r = gpu.zeros { 4 }
    ok, err = pcall(function() k.asserts(b, r):sync() end)
    h.check(not ok and err.code ~= nil, "an assertion that fails")
  end)
end

-- Macros that end the kernel where they are reached, and only there, with what they say.
local ENDINGS = {
  { 'panic!("no such row")', "no such row" }, { "unreachable!()", "unreachable!()" }, { "todo!()", "todo!()" },
  { "unimplemented!()", "unimplemented!()" }, { 'todo!("wide rows")', "wide rows" },
}
local function check_endings(h)
  for i, ending in ipairs(ENDINGS) do
    h.group("control.ending." .. i, function()
      local kernel = gpu.kernels(("#[tile]\nfn ends(z: &mut Tensor<i32, {[4]}>, n: i32) { if n > 3 { %s; } z.store(broadcast_scalar(n, shape![4])); }"):format(
        ending[1]), "ends").ends
      local z = gpu.zeros({ 4 }, "i32")
      kernel(z:tiles { 4 }, 3):sync()
      h.check(z[4] == 3, "%s where it is not reached: %s", ending[1], z[4])
      local ok, err = pcall(function() kernel(z:tiles { 4 }, 4):sync() end)
      h.check(not ok and err.code == "G0404" and tostring(err):find(ending[2], 1, true) ~= nil, "%s: %s", ending[1], tostring(err))
    end)
  end
end

return function(h)
  check_simt(h)
  check_tile(h)
  check_failures(h)
  check_endings(h)
end
