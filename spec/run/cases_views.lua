-- Views of tensors in tile kernels: slices, and tensors that kernels make of pointers, against plain Lua.
local gpu = require "gpulua"
local matrix = require "matrix"

local KERNELS = [[
  unsafe fn matrix(p: *mut f32, rows: i32, columns: i32, stride: i32) -> Tensor<f32, {[-1, -1]}> {
      let shape: Shape<{[-1, -1]}> = Shape::<{[-1, -1]}> { dims: &[rows, columns] };
      let strides: Array<{[-1, 1]}> = Array::<{[-1, 1]}> { dims: &[stride] };
      make_tensor_view(pointer_to_tile(p), shape, strides, new_token_unordered())
  }
  #[tile]
  unsafe fn double_raw(to: *mut f32, from: *mut f32, rows: i32, columns: i32, stride: i32) {
      let x = matrix(from, rows, columns, stride);
      let whole = matrix(to, rows, columns, columns);
      let mut y = whole.partition_full_mut(shape![4, 8]);
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
  fn mapped<const BM: i32, const BN: i32, const MAP: [i32; 2]>(mut z: MappedPartitionMut<i32, {[BM, BN]}, MAP>, times: &Tensor<i32, {[-1, -1]}>) {
      let columns = num_tiles(&z, 1);
      let seen = times.partition(shape![1, 1]);
      for index in z.iter_indices() {
          let (m, n) = index.components();
          let old = seen.load([m, n]).reshape(shape![]);
          z.store(broadcast_scalar(m * columns + n + tile_to_scalar(old), shape![BM, BN]), index);
      }
  }
  #[tile]
  fn mapped3<const MAP: [i32; 3]>(mut z: MappedPartitionMut<i32, {[1, 2, 4]}, MAP>, mut y: MappedPartitionMut<f32, {[1, 2, 4]}, MAP>, start: i32, length: i32) {
      for index in z.iter_indices_within_with([(0, -1), (start, length), (0, -1)], &y) {
          let [a, b, c] = index.coords();
          let flat = (a * 100 + b) * 100 + c;
          z.store(broadcast_scalar(flat, shape![1, 2, 4]), index);
          y.store(broadcast_scalar(convert_scalar::<f32>(flat), shape![1, 2, 4]), index);
      }
  }
  #[tile]
  fn rows<const B: i32, const MAP: [i32; 2]>(mut z: MappedPartitionMut<f32, {[1, B]}, MAP>, x: &Tensor<f32, {[-1, -1]}>) {
      let (m, n) = (num_tiles(&z, 0), num_tiles(&z, 1));
      let from = x.partition(shape![1, B]).with_bounds((m, n));
      for index in z.iter_indices() {
          let (row, _) = index.components();
          let mut sum = constant(0.0f32, shape![1, B]);
          for j in n.into_dim() { sum = sum + from.load(coord((row, j))); }
          for j in n.into_dim() { z.store(sum, coord((row, j))); }
      }
  }
  #[tile]
  fn line<const MAP: [i32; 1]>(mut z: MappedPartitionMut<i32, {[4]}, MAP>) {
      for index in z.iter_indices() { z.store(broadcast_scalar(index.coords()[0], shape![4]), index); }
  }
  #[tile]
  fn nested(z: &mut Tensor<i32, {[3, -1]}>, value: i32) {
      let mut p = z.partition_mut(shape![2, 4]);
      let n = num_tiles(&p, 1);
      for i in 0..num_tiles(&p, 0) {
          for j in 0..n { p.store(broadcast_scalar(value + program_id(1) * 1000 + i * 100 + j, shape![2, 4]), [i, j]); }
      }
  }
  #[tile]
  unsafe fn nested_raw(z: &mut Tensor<f32, {[3, -1]}>, y: &mut Tensor<f32, {[3, -1]}>) {
      let p = make_nested_partition_view_mut(z, shape![2, 4], padding::NegInf, z.token());
      let mut q = y.partition_mut(shape![2, 4]);
      for i in 0..num_tiles(&p, 0) {
          for j in 0..num_tiles(&p, 1) { q.store(reduce_min(p.load([i, j]), 1).reshape(shape![2, 1]).broadcast(shape![2, 4]), [i, j]); }
      }
  }
  #[tile]
  fn part<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>) { z.store(x.load_like(z) + 1.0); }
  #[tile]
  fn bounded(z: &mut Tensor<f32, {[4, 8]}>, x: &Tensor<f32, {[-1, -1]}>) {
      let (m, n) = (Dim::new(x.shape()[0] / 4), Dim::new(x.shape()[1] / 8));
      let p = x.partition(shape![4, 8]).with_bounds((m, n));
      let mut sum = constant(0.0f32, shape![4, 8]);
      for i in m { for j in n { sum = sum + p.load(coord((i, j))); } }
      z.store(sum);
  }
  use cutile::tileir::*;
  #[tile]
  unsafe fn pile(z: &mut Tensor<f32, {[4, -1]}>, x: &Tensor<f32, {[-1, -1]}>) {
      let mut p = z.partition_mut(shape![4, 8]);
      for k in 0..3 { let t = atomic_red_view_tko(&mut p, x.load_tile(shape![4, 8], [program_id(0), program_id(1)]), [0, 0], atomic::AddF, ordering::Relaxed, scope::Device); }
  }
  #[tile]
  unsafe fn rows_of(z: &mut Tensor<f32, {[4, 8]}>, x: &Tensor<f32, {[-1, -1]}>, at: &Tensor<i32, {[-1]}>) {
      let v: GatherScatterView<f32, {[4, 8]}, 0> = make_gather_scatter_view(x, shape![4, 8], padding::None);
      let (t, _) = load_gather_scatter_view_tko(&v, at.load_tile(shape![4], [program_id(0)]), program_id(1), new_token_unordered(), ordering::Relaxed, scope::TileBlock);
      z.store(t);
  }
  #[tile]
  unsafe fn windows(z: &mut Tensor<f32, {[2, 4]}>, x: &Tensor<f32, {[-1, -1]}>) {
      let v: StridedView<f32, {[2, 4]}, {[1, 3]}, {[1, 0]}> = make_strided_view(x, shape![2, 4], padding::Zero);
      let (t, _) = load_strided_view_tko(&v, [program_id(0), program_id(1)], new_token_unordered(), ordering::Relaxed, scope::TileBlock);
      z.store(t);
  }
  #[tile]
  unsafe fn addresses(table: *mut i64, a: *mut f32, b: *mut f32) {
      let p = pointer_to_tile(table);
      let pa: Tile<i64, {[]}> = ptr_to_int(pointer_to_tile(a));
      let pb: Tile<i64, {[]}> = ptr_to_int(pointer_to_tile(b));
      let t = store_ptr_tko(p, pa, ordering::Weak, None::<scope::TileBlock>, None, None, Latency::<0>);
      let u = store_ptr_tko(p.offset(1), pb, ordering::Weak, None::<scope::TileBlock>, None, None, Latency::<0>);
  }
  #[tile]
  unsafe fn from_table(z: &mut Tensor<f32, {[4]}>, table: &Tensor<i64, {[-1]}>, n: i32) {
      let x: Tensor<f32, {[-1]}> = load_tensor(table, [program_id(0)], Shape::<{[-1]}> { dims: &[n] }, Array::<{[-1]}> { dims: &[1] });
      z.store(x.load_tile(shape![4], [0]));
  }
  // Partitions of one tensor or another: by a branch, from turn to turn, behind a loop.
  #[tile]
  fn chosen<const B: i32>(z: &mut Tensor<i32, {[B]}>, a: &Tensor<i32, {[-1]}>, b: &Tensor<i32, {[64]}>, flag: i32) {
      let mut p = a.partition(shape![B]);
      if flag > 0 { p = b.partition(shape![B]); }
      let q = if flag > 1 { b.partition(shape![B]) } else { a.partition(shape![B]) };
      let mut sum = constant(0i32, shape![B]);
      for i in 0..num_tiles(&p, 0) { sum += p.load([i]); }
      z.store(sum + q.load([num_tiles(&q, 0) - 1]) * 1000);
  }
  #[tile]
  fn exchanged<const B: i32>(z: &mut Tensor<i32, {[B]}>, a: &Tensor<i32, {[-1]}>, b: &Tensor<i32, {[-1]}>, n: i32) {
      let mut p = a.partition(shape![B]);
      let mut sum = constant(0i32, shape![B]);
      for i in 0..n {
          sum = sum * 10 + p.load([0]);
          p = if i % 2 == 0 { b.partition(shape![B]) } else { a.partition(shape![B]) };
          if i == 5 { break; }
      }
      let mut m = a.partition(shape![B]);
      let mut i = 0;
      while i < n {
          sum += m.load([0]) * 100;
          m = b.partition(shape![B]);
          i += 1;
      }
      loop {
          if i > 3 { p = b.partition(shape![B]); break; }
          i += 1;
      }
      z.store(sum + p.load([0]) * 10000);
  }
  #[tile]
  fn either<const B: i32>(z: &mut Tensor<i32, {[B]}>, y: &mut Tensor<i32, {[B]}>, flag: i32) {
      let mut m = if flag > 0 { z.partition_mut(shape![4]) } else { y.partition_mut(shape![4]) };
      for i in 0..2 { m.store(constant(7 + i, shape![4]), [i]); }
  }
  struct Two<'a, const B: i32> { x: Partition<'a, i32, {[B]}>, n: i32 }
  #[tile]
  fn in_values<const B: i32>(z: &mut Tensor<i32, {[B]}>, a: &Tensor<i32, {[-1]}>, b: &Tensor<i32, {[64]}>, n: i32) {
      let p;
      if n > 2 { p = a.partition(shape![B]); } else { p = b.partition(shape![B]); }
      let mut s: Two<B> = Two { x: a.partition(shape![B]), n: n };
      if n > 1 { s.x = b.partition(shape![B]); }
      let o = if n > 3 { Some(a.partition(shape![B])) } else { None };
      let mut sum = p.load([0]) + s.x.load([0]) * 10 + s.n * 1000;
      if let Some(q) = o { sum += q.load([0]) * 100; }
      z.store(sum);
  }
  enum Source<'a, const B: i32> { Of(Partition<'a, i32, {[B]}>, i32), Nothing }
  fn exchange<'a, const B: i32>(s: Two<'a, B>, x: Partition<'a, i32, {[B]}>) -> Two<'a, B> { Two { x, n: s.n + 1 } }
  #[tile]
  fn in_loops<const B: i32>(z: &mut Tensor<i32, {[B]}>, a: &Tensor<i32, {[-1]}>, b: &Tensor<i32, {[64]}>, n: i32) {
      let mut s: Two<B> = Two { x: a.partition(shape![B]), n: 0 };
      let mut pair = (make_partition_view(b, shape![B], padding::Zero, dim_map::Identity, b.token()), 1);
      let mut o = Some(a.partition(shape![B]));
      let mut e: Source<B> = Source::Of(b.partition(shape![B]), 4);
      let mut sum = constant(0i32, shape![B]);
      for i in 0..n {
          sum = sum * 10 + s.x.load([0]);
          if i % 2 == 0 { s.x = b.partition(shape![B]); } else { s = exchange(s, a.partition(shape![B])); }
          if let Some(p) = o { sum += p.load([0]) * 1000; o = None; } else { o = Some(b.partition(shape![B])); }
          if i == 4 { break; }
          pair = (a.partition(shape![B]), pair.1 * 2);
      }
      let mut first = None;
      for k in 0..n { first = match first { None => Some(b.partition(shape![B])), Some(p) => { sum += p.load([k % 4]) * 5; Some(p) } }; }
      let mut i = 0;
      while i < n {
          match e { Source::Of(p, k) => { sum += p.load([0]) * k; e = Source::Nothing; }, Source::Nothing => { e = Source::Of(a.partition(shape![B]), i); } }
          i += 1;
      }
      z.store(sum + pair.0.load([0]) * 7 + s.n * 13 + pair.1);
  }
  #[tile]
  fn either_own<const B: i32>(z: &mut Tensor<i32, {[B]}>, y: &mut Tensor<i32, {[B]}>, x: &Tensor<i32, {[-1]}>, w: &Tensor<i32, {[-1]}>, flag: i32) {
      let from = if flag > 0 { x } else { w };
      let r = if flag > 0 { z } else { y };
      let t = from.load_like(r) + r.load() + from.shape()[0];
      r.store(t);
  }
  #[tile]
  unsafe fn either_whole(z: &Tensor<i32, {[-1]}>, y: &Tensor<i32, {[-1]}>, flag: i32) {
      let mut m = if flag > 0 { z.partition_full_mut(shape![4]) } else { y.partition_full_mut(shape![4]) };
      m.store(constant(9, shape![4]), [program_id(0)]);
  }
  const FIRST: i32 = 3;
  static VISITS: Global<i32, {[]}> = Global::new(FIRST + 2);
  static SUM: Global<AtomicF32, {[]}> = Global::new(0.5);
  mod inner { use cutile::core::*; pub static VISITS: Global<u64, {[]}> = Global::new(7); }
  #[tile]
  fn visit(z: &mut Tensor<i32, {[1]}>, s: &mut Tensor<f32, {[1]}>) {
      let (_, _) = VISITS.atomic_add(scalar_to_tile(1i32), ordering::AcqRel, scope::Device);
      let (old, _) = SUM.atomic_add(scalar_to_tile(0.25f32), ordering::Relaxed, scope::Device);
      s.store(old.reshape(shape![1]));
      inner::VISITS.store(scalar_to_tile(100u64), ordering::Release, scope::System);
  }
  #[tile]
  fn visits(z: &mut Tensor<i32, {[1]}>) {
      let (old, token) = VISITS.load(ordering::Acquire, scope::Device);
      let t = VISITS.store(old + old, ordering::Relaxed, scope::Device);
      let (now, _) = VISITS.load(ordering::Acquire, scope::Device);
      z.store(now.reshape(shape![1]));
  }
  #[tile]
  unsafe fn shift(p: *mut f32, n: i32) {
      let x = make_tensor_view(pointer_to_tile(p), Shape::<{[-1]}> { dims: &[n] }, const_array![1], new_token_unordered());
      let y = make_tensor_view(pointer_to_tile(p).offset(1), Shape::<{[-1]}> { dims: &[n] }, const_array![1], new_token_unordered());
      let tile = x.partition(shape![8]).load([0]);
      y.partition_full_mut(shape![8]).store(tile + 1.0, [0]);
      x.partition_full_mut(shape![8]).store(x.partition(shape![8]).load([0]) * 2.0, [0]);
  }
  fn at(t: &Tensor<i32, {[-1]}>, i: i32) -> i32 { tile_to_scalar(t.load_tile(shape![1], [i]).reshape(shape![])) }
  // Each block's rows begin and end anywhere.
  #[tile]
  fn sliced(z: &mut Tensor<f32, {[4, 8]}>, x: &Tensor<f32, {[-1, -1]}>, ends: &Tensor<i32, {[-1]}>) {
      let b = program_id(0);
      let p = x.slice(0, at(ends, b), at(ends, b + 1)).partition(shape![4, 8]);
      let mut sum = constant(0.0f32, shape![4, 8]);
      for i in 0..num_tiles(&p, 0) { sum = sum * 3.0f32 + p.load([i, program_id(1)]); }
      z.store(sum);
  }
  #[tile]
  unsafe fn spread(z: &Tensor<i32, {[-1, -1]}>, ends: &Tensor<i32, {[-1]}>) {
      let b = program_id(0);
      let mut m = z.slice(0, at(ends, b), at(ends, b + 1)).partition_full_mut(shape![4, 8]);
      for i in 0..num_tiles(&m, 0) { m.store(constant(1i32, shape![4, 8]) * (b * 100 + i), [i, program_id(1)]); }
  }
  // Of a slice, of columns, and all of an axis, whose extent stays known.
  fn wide(t: &Tensor<i32, {[-1, 16]}>) -> Tile<i32, {[2, 16]}> { t.load_tile(shape![2, 16], [0, 0]) }
  #[tile]
  fn corner(z: &mut Tensor<i32, {[2, 16]}>, x: &Tensor<i32, {[-1, 16]}>, row: i32, column: i32) {
      let rows = x.slice(0, row, x.shape()[0]);
      let columns = rows.slice(1, column, column + 3);
      let none: &Tensor<i32, {[-1, 16]}> = x.slice(0, row, row);
      z.store(wide(rows) * 1000 + columns.load_tile(shape![2, 16], [0, 0]) + wide(none) + columns.shape()[1] * 100000 + rows.shape()[0] * 1000000);
  }
]]

local checks = {}

-- Nothing of the tensor is in front of a slice or beyond it.
function checks.slices(h, k)
  local ends, rows, columns = { 1, 8, 8, 9, 21, 22 }, 23, 11
  local x, te = gpu.arange(rows * columns):reshape { rows, columns }, gpu.from_table(ends, "i32")
  local blocks = #ends - 1
  local z, y = gpu.zeros { 4 * blocks, columns }, gpu.full({ rows, columns }, -1, "i32")
  k.sliced(z:tiles { 4, 8 }, x, te):sync()
  k.spread:with { grid = { blocks, 2 } }(y, te):sync()
  for b = 1, blocks do
    for r = 0, 3 do
      for c = 0, columns - 1 do
        local want = 0
        for first = ends[b], ends[b + 1] - 1, 4 do
          want = want * 3 + (first + r < ends[b + 1] and (first + r) * columns + c or 0)
        end
        local got = z[{ 4 * b - 3 + r, c + 1 }]
        h.check(got == want, "slice %d, row %d, column %d: %s, expected %s", b, r, c, got, want)
      end
    end
  end
  for r = 0, rows - 1 do
    local want = -1
    for b = 1, blocks do
      if r >= ends[b] and r < ends[b + 1] then want = (b - 1) * 100 + (r - ends[b]) // 4 end
    end
    for c = 1, columns do h.check(y[{ r + 1, c }] == want, "row %d of slices: %s, expected %d", r, y[{ r + 1, c }], want) end
  end
  local wide, part = gpu.arange(5 * 16, "i32"):reshape { 5, 16 }, gpu.zeros({ 2, 16 }, "i32")
  for row, column in pairs { [0] = 0, [1] = 5, [4] = 13 } do
    k.corner(part:tiles { 2, 16 }, wide, row, column):sync()
    for r = 0, 1 do
      for c = 0, 15 do
        local is_in, at = row + r < 5, (row + r) * 16
        local want = (is_in and (at + c) * 1000 + (c < 3 and at + column + c or 0) or 0) + 300000 + (5 - row) * 1000000
        h.check(part[{ r + 1, c + 1 }] == want, "corner %d %d: %s, expected %d", r, c, part[{ r + 1, c + 1 }], want)
      end
    end
  end
  for what, wrong in pairs { ["ends within the tensor"] = { 1, 24 }, ["not behind its end"] = { 9, 8 }, ["starts within the tensor"] = { -1, 8 } } do
    local ok, err = pcall(function() k.sliced(gpu.zeros { 4, columns }:tiles { 4, 8 }, x, gpu.from_table(wrong, "i32")):sync() end)
    h.check(not ok and tostring(err):find(what, 1, true) and tostring(err):find "cases_views:%d+:15", "a slice that is none: %s", err)
  end
end

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

-- Every tile is visited once, whatever the map, the number of blocks and the ragged edges.
function checks.maps(h, k)
  for _, row in ipairs { { { 1, 1 }, 5 }, { { 3, 1 }, 4 }, { { 2, 3 }, 7 }, { { 4, 2 }, 1 }, { { 1, 2 }, 2 }, { { 0, 1 }, 2 }, { { 1, 0 }, 3 } } do
    local map, blocks = table.unpack(row)
    local m, n = 5, 7
    local z, counts = gpu.full({ 2 * m - 1, 4 * n - 2 }, -1, "i32"), gpu.zeros({ m, n }, "i32")
    k.mapped(z:tiles { 2, 4 }:map(map, blocks), counts):sync()
    for i = 1, 2 * m - 1 do
      for j = 1, 4 * n - 2 do
        local tm, tn = (i - 1) // 2, (j - 1) // 4
        local want = tm * n + tn
        if map[1] == 0 and tm > 0 or map[2] == 0 and tn > 0 then want = -1 end
        h.check(z[{ i, j }] == want, "map %s in %d blocks, %d %d: %s", table.concat(map, " "), blocks, i, j, z[{ i, j }])
      end
    end
  end
end

function checks.ranges(h, k)
  local z, y = gpu.full({ 2, 9, 7 }, -1, "i32"), gpu.full({ 2, 9, 7 }, -1)
  k.mapped3(z:tiles { 1, 2, 4 }:map({ 1, 2, 1 }, 3), y:tiles { 1, 2, 4 }:map({ 1, 2, 1 }, 3), 1, 3):sync()
  for a = 1, 2 do
    for b = 1, 9 do
      for c = 1, 7 do
        local t = (b - 1) // 2
        local want = t >= 1 and t < 4 and ((a - 1) * 100 + t) * 100 + (c - 1) // 4 or -1
        h.check(z[{ a, b, c }] == want and y[{ a, b, c }] == want, "range %d %d %d: %s %s", a, b, c, z[{ a, b, c }], y[{ a, b, c }])
      end
    end
  end
  local ok, err = pcall(function() k.mapped3(z:tiles { 1, 2, 4 }:map({ 1, 2, 1 }, 3), y:tiles { 1, 2, 4 }:map({ 1, 2, 1 }, 3), 3, 3):sync() end)
  h.check(not ok and tostring(err):find("G0405", 1, true), "a range beyond the tiles: %s", err)
  local line = gpu.zeros({ 18 }, "i32")
  k.line(line:tiles { 4 }:map({ 1 }, 2)):sync()
  for i = 1, 18 do h.check(line[i] == (i - 1) // 4, "line %d: %s", i, line[i]) end
end

function checks.owned(h, k)
  local x, z = gpu.arange(15):reshape { 3, 5 }, gpu.zeros { 3, 5 }
  k.rows(z:tiles { 1, 2 }:map({ 1, 0 }, 2), x):sync()
  for i = 0, 2 do
    local even, odd = 15 * i + 6, 10 * i + 4
    for j = 0, 4 do h.check(z[{ i + 1, j + 1 }] == (j % 2 == 0 and even or odd), "owned %d %d: %s", i, j, z[{ i + 1, j + 1 }]) end
  end
end

-- Smaller tiles that do not divide the block's own, which the launch gives.
function checks.nested(h, k)
  local z = gpu.full({ 5, 13 }, -1, "i32")
  k.nested(z:tiles { 3, 6 }, 10000):sync()
  for i = 0, 4 do
    for j = 0, 12 do
      local want = 10000 + j // 6 * 1000 + i % 3 // 2 * 100 + j % 6 // 4
      h.check(z[{ i + 1, j + 1 }] == want, "nested %d %d: %s, expected %d", i, j, z[{ i + 1, j + 1 }], want)
    end
  end
end

-- Beyond the block's own tile is the padding, though the tensor goes on.
function checks.nested_raw(h, k)
  local x, y = gpu.arange(65):view { 5, 13 }, gpu.zeros { 5, 13 }
  k.nested_raw(x:tiles { 3, 6 }, y:tiles { 3, 6 }):sync()
  for i = 0, 4 do
    for j = 0, 12 do
      local want = j % 6 < 4 and j < 12 and i * 13 + j // 6 * 6 or -math.huge
      h.check(y[{ i + 1, j + 1 }] == want, "nested_raw %d %d: %s, expected %s", i, j, y[{ i + 1, j + 1 }], want)
    end
  end
end

function checks.prefix(h, k)
  local x, z = gpu.arange(10), gpu.zeros { 10 }
  k.part:with { grid = 2 }(z:tiles { 4 }:prefix(), x):sync()
  for i = 1, 10 do h.check(z[i] == (i <= 8 and i or 0), "prefix %d: %s", i, z[i]) end
  h.check(not pcall(function() k.part:with { grid = 4 }(z:tiles { 4 }:prefix(), x):sync() end), "a grid beyond the tiles")
  h.check(not pcall(function() k.part(z:tiles { 4 }:prefix(), x):sync() end), "a prefix without a grid")
end

function checks.bounds(h, k)
  local z = gpu.zeros { 4, 8 }
  k.bounded(z:tiles { 4, 8 }, gpu.ones { 8, 24 }):sync()
  for i = 1, 4 do h.check(z[{ i, 2 * i }] == 6, "bounded %d: %s", i, z[{ i, 2 * i }]) end
  local ok, err = pcall(function() k.bounded(z:tiles { 4, 8 }, gpu.ones { 9, 24 }):sync(); return z[{ 1, 1 }] end)
  h.check(not ok and tostring(err):find("with_bounds", 1, true), "a bound that does not hold: %s", err)
end

-- A kernel's statics stay from launch to launch; each kernel has its own.
function checks.globals(h, k)
  local z, s = gpu.zeros({ 6 }, "i32"), gpu.zeros { 6 }
  for i = 1, 3 do k.visit(z:tiles { 1 }, s:tiles { 1 }):sync() end
  local most = 0
  for i = 1, 6 do most = math.max(most, s[i]) end
  h.check(most == 0.5 + 17 * 0.25, "the last of 18 additions saw %s", most)
  local n = gpu.zeros({ 1 }, "i32")
  for i = 1, 3 do
    k.visits(n:tiles { 1 }):sync()
    h.check(n[1] == 5 * 2 ^ i, "visits %d: %s", i, n[1])
  end
end

function checks.raw_views(h, k)
  local x, z = gpu.arange(30):reshape { 3, 10 }, gpu.ones { 3, 10 }
  k.pile(z:tiles { 4, 8 }, x):sync()
  for i = 0, 2 do
    for j = 0, 9 do h.check(z[{ i + 1, j + 1 }] == 1 + 3 * (10 * i + j), "pile %d %d: %s", i, j, z[{ i + 1, j + 1 }]) end
  end
  local at = gpu.from_table({ 2, -1, 0, 3, 1, 1, 0, 2 }, "i32")
  z = gpu.ones { 8, 10 }
  k.rows_of(z:tiles { 4, 8 }, x, at):sync()
  for i = 1, 8 do
    for j = 0, 9 do
      local row = at[i]
      local want = row >= 0 and row < 3 and 10 * row + j or 0
      h.check(z[{ i, j + 1 }] == want, "row %d %d: %s", i, j, z[{ i, j + 1 }])
    end
  end
  matrix.covers(h, k.rows_of, "any", "stride", "tensor_base")
  -- Tile (m, n) holds x[3 n + j][m + i] at (i, j): its axes are those of x the other way round.
  z = gpu.ones { 6, 4 }
  k.windows(z:tiles { 2, 4 }, x):sync()
  for i = 0, 5 do
    for j = 0, 3 do
      local r, c = j, i // 2 + i % 2
      h.check(z[{ i + 1, j + 1 }] == (r < 3 and 10 * r + c or 0), "window %d %d: %s", i, j, z[{ i + 1, j + 1 }])
    end
  end
end

function checks.tables(h, k)
  local table, a, b = gpu.zeros({ 2 }, "i64"), gpu.arange(4), gpu.full({ 3 }, 5)
  local z = gpu.zeros { 8 }
  k.addresses:with { grid = 1 }(table, a, b):sync()
  k.from_table(z:tiles { 4 }, table, 3):sync()
  for i, want in ipairs { 0, 1, 2, 0, 5, 5, 5, 0 } do h.check(z[i] == want, "table %d: %s", i, z[i]) end
  table = gpu.addresses { b, gpu.arange(20):slice({ 5, 8 }), a } -- what only the table has stays too
  collectgarbage()
  z = gpu.zeros { 12 }
  k.from_table(z:tiles { 4 }, table, 3):sync()
  for i, want in ipairs { 5, 5, 5, 0, 4, 5, 6, 0, 0, 1, 2, 0 } do h.check(z[i] == want, "addresses %d: %s", i, z[i]) end
end

function checks.joined(h, k)
  local a, b = gpu.full({ 33 }, 1, "i32"), gpu.full({ 64 }, 2, "i32")
  local z = gpu.zeros({ 16 }, "i32")
  -- The last tile of a has one element.
  for flag, want in pairs { [0] = { 1003, 2 }, [1] = { 1008, 8 }, [2] = { 2008, 2008 } } do
    k.chosen(z:tiles { 16 }, a, b, flag):sync()
    h.check(z[1] == want[1] and z[16] == want[2], "chosen %d: %s %s", flag, z[1], z[16])
  end
  for n = 0, 7 do
    local sum = 0
    for i = 0, math.min(n, 6) - 1 do sum = sum * 10 + (i % 2 == 0 and 1 or 2) end
    local want = sum + (n > 0 and 100 + 200 * (n - 1) or 0) + 20000
    k.exchanged(z:tiles { 16 }, a, b, n):sync()
    h.check(z[1] == want and z[16] == want, "exchanged %d: %s %s, expected %d", n, z[1], z[16], want)
  end
  for n = 0, 4 do
    local want = (n > 2 and 1 or 2) + (n > 1 and 20 or 10) + n * 1000 + (n > 3 and 100 or 0)
    k.in_values(z:tiles { 16 }, a, b, n):sync()
    h.check(z[1] == want, "in values %d: %s, expected %d", n, z[1], want)
  end
  for n = 0, 7 do
    local s, count, pair, times, o, sum = 1, 0, 2, 1, 1, 0
    for i = 0, n - 1 do
      sum = sum * 10 + s
      if i % 2 == 0 then s = 2 else s, count = 1, count + 1 end
      if o then sum, o = sum + o * 1000, nil else o = 2 end
      if i == 4 then break end
      pair, times = 1, times * 2
    end
    sum = sum + 10 * math.max(n - 1, 0)
    local e, by = 2, 4
    for i = 0, n - 1 do
      if e then sum, e = sum + e * by, nil else e, by = 1, i end
    end
    local want = sum + pair * 7 + count * 13 + times
    k.in_loops(z:tiles { 16 }, a, b, n):sync()
    h.check(z[1] == want, "in loops %d: %s, expected %d", n, z[1], want)
  end
  for flag = 0, 1 do
    for _, tile in ipairs { 8, 6 } do -- smaller tiles that divide the block's own, and that do not
      local y = gpu.zeros({ 14 }, "i32")
      z = gpu.zeros({ 14 }, "i32")
      k.either(z:tiles { tile }, y:tiles { tile }, flag):sync()
      for i = 0, 13 do
        local want = i % tile < 4 and 7 or 8
        h.check(z[i + 1] == flag * want and y[i + 1] == (1 - flag) * want, "either %d %d: %s %s", flag, i, z[i + 1], y[i + 1])
      end
    end
    local y = gpu.full({ 14 }, 100, "i32")
    z = gpu.full({ 14 }, 100, "i32")
    k.either_own(z:tiles { 4 }, y:tiles { 4 }, gpu.arange(15, "i32"), gpu.arange(20, "i32"), flag):sync()
    for i = 0, 13 do
      h.check(z[i + 1] == 100 + flag * (i + 15) and y[i + 1] == 100 + (1 - flag) * (i + 20), "either own %d %d: %s %s", flag, i,
        z[i + 1], y[i + 1])
    end
    y = gpu.zeros({ 8 }, "i32")
    z = gpu.zeros({ 8 }, "i32")
    k.either_whole:with { grid = { 2 } }(z, y, flag):sync()
    h.check(z[8] == 9 * flag and y[8] == 9 * (1 - flag), "either whole %d: %s %s", flag, z[8], y[8])
  end
end

return function(h)
  local k, wrong
  for _, name in ipairs { "raw", "overlap", "maps", "ranges", "owned", "nested", "nested_raw", "prefix", "bounds", "globals", "raw_views", "tables", "joined", "slices" } do
    h.group("views." .. name, function()
      k = k or gpu.kernels(KERNELS, "cases_views")
      wrong = wrong or gpu.kernels((KERNELS:gsub("columns, stride%);", "columns, columns);")), "cases_views")
      checks[name](h, k, wrong)
    end)
  end
end
