// Kernels that run_test.c runs and compares with C.
#[tile]
fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, y: &Tensor<f32, {[-1]}>) {
    let tx = x.load_like(z);
    let ty = y.load_like(z);
    z.store(tx + ty);
}

#[tile]
fn saxpy<const B: i32>(y: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, a: f32) {
    let t = y.load();
    y.store(a * x.load_like(y) + t);
}

#[tile]
fn clip<const B: i32>(z: &mut Tensor<i32, {[B]}>, x: &Tensor<i32, {[-1]}>, n: i32) {
    let t = x.load_like(z);
    let mut acc = constant(0i32, shape![B]);
    for i in 0..n {
        if i % 2 == 0 { acc = acc + t; } else { acc = acc - constant(i, shape![B]); }
    }
    let limit = constant(100i32, shape![B]);
    z.store(select(gt_tile(acc, limit), limit, acc));
}

#[kernel]
fn vecadd(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(out) = c.get_mut(idx) { *out = a[i] + b[i]; }
}

#[kernel]
fn mandelbrot(mut out: DisjointSlice<i32>, width: u32, scale: f32, limit: i32) {
    let idx = thread::index_1d();
    let i = idx.get() as u32;
    if let Some(p) = out.get_mut(idx) {
        let cx = (i % width) as f32 * scale - 2.0;
        let cy = (i / width) as f32 * scale - 1.0;
        let mut x = 0.0;
        let mut y = 0.0;
        let mut n = 0;
        while n < limit && x * x + y * y < 4.0 {
            let t = x * x - y * y + cx;
            y = 2.0 * x * y + cy;
            x = t;
            n += 1;
        }
        *p = n;
    }
}

fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        let t = a % b;
        a = b;
        b = t;
    }
    a
}

fn classify(x: i32) -> i32 {
    if x < 0 { return -1; }
    if x == 0 { return 0; }
    let mut n = 0;
    let mut v = x;
    loop {
        if v == 1 { break; }
        if n >= 50 { return 1000; }
        v = if v % 2 == 0 { v / 2 } else { v.wrapping_mul(3).wrapping_add(1) };
        n += 1;
    }
    n
}

fn bump(x: &mut i32, by: i32) { *x += by; }

#[derive(Clone, Copy)]
struct Pair { a: i32, b: i32 }

impl Pair {
    fn sum(self) -> i32 { self.a + self.b }
    fn grow(&mut self, by: i32) { self.a += by; self.b -= 2 * by; }
}

#[kernel]
fn mixed(x: &[i32], mut out: DisjointSlice<i32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(o) = out.get_mut(idx) {
        let v = x[i];
        let mut total = classify(v) + gcd(v as u32 & 1023, 360) as i32;
        let mut p = Pair { a: v, b: 3 };
        for k in 0..5 {
            if k == 3 { continue; }
            p.grow(k);
            bump(&mut total, k);
            if total > 5000 { break; }
        }
        for k in (1..=4).rev() { total = total.wrapping_mul(3) + k; }
        for k in 250u8..=255 { total += k as i32; }
        let table = [7, 11, 13, 17];
        total += table[(v & 3) as usize];
        let mut hist = [0i32; 8];
        for k in 0..16 { hist[((v >> k) & 7) as usize] += k; }
        let extra = match v & 7 {
            0 => 5,
            1 | 2 => 6,
            3..=5 => hist[2],
            n if n == 6 => n + 1,
            _ => -1,
        };
        let scaled = |t: i32| t + p.sum();
        let r = 'done: {
            if v > 100 { break 'done 1; }
            if v > 50 { break 'done 2; }
            3
        };
        *o = scaled(total) + extra + hist[5] + r;
    }
}

#[kernel]
fn casts(x: &[f32], n: &[i32], mut out: DisjointSlice<i64>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(o) = out.get_mut(idx) {
        let f = x[i];
        let a = f as i32 as i64;
        let b = f as u8 as i64;
        let c = n[i] as i8 as i64;
        let d = (n[i] as u32 >> 3) as i64;
        let e = (n[i] as f32).sqrt() as i64;
        let g = (n[i] > 0 && f > 1.0) as i64;
        let h = if n[i] == 0 { 0 } else { let q = 1000 / n[i]; q as i64 };
        *o = a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * g + 13 * h;
    }
}

#[kernel]
fn sum_while(x: &[f32], mut out: DisjointSlice<f32>, stride: usize) {
    let idx = thread::index_1d();
    let first = idx.get();
    if let Some(o) = out.get_mut(idx) {
        let mut s = 0.0f32;
        let mut j = first;
        while let Some(v) = x.get(j) {
            s += *v;
            j += stride;
        }
        *o = s;
    }
}

#[kernel]
fn past_the_end(x: &[i32], mut out: DisjointSlice<i32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(o) = out.get_mut(idx) { *o = x[i + 1] + 1; }
}

trait Weight { const W: i32; fn weigh(self) -> i32; fn twice(self) -> i32; }
impl Weight for i32 { const W: i32 = 3; fn weigh(self) -> i32 { self * Self::W } fn twice(self) -> i32 { self.weigh() * 2 } }
impl Weight for u8 { const W: i32 = 5; fn weigh(self) -> i32 { self as i32 + Self::W } fn twice(self) -> i32 { self.weigh() * 4 } }

fn heavy<T: Weight>(x: T) -> i32 { x.twice() + T::W }
fn apply<F: Fn(i32) -> i32>(f: F, n: i32) -> i32 { f(f(n)) }
fn largest<const N: usize>(a: [i32; N]) -> i32 {
    let mut m = a[0];
    let mut k = 1;
    while k < N { if a[k] > m { m = a[k]; } k += 1; }
    m
}
fn find(x: &[i32], from: usize) -> Option<i32> {
    let mut k = from;
    while k < x.len() {
        if x[k] < 0 { return Some(x[k]); }
        k += 1;
    }
    None
}
fn split(v: i32) -> (i32, i32) { (v / 10, v % 10) }
const LIMIT: i32 = 1000;

#[derive(Clone, Copy)]
enum Shape { Dot, Circle(i32), Box { w: i32, h: i32 } }
fn area(s: Shape) -> i32 {
    match s {
        Shape::Dot => 1,
        Shape::Circle(r) => 3 * r * r,
        Shape::Box { w, h } => w * h,
    }
}

#[kernel]
fn features(x: &[i32], mut out: DisjointSlice<i32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    let Some(o) = out.get_mut(idx) else { return; };
    let v = x[i];
    let late;
    if v % 2 == 0 { late = 1; } else { late = 2; }
    let (q, r) = split(v);
    let (mut a, mut b) = (q, r);
    let c = a; a = b; b = c;
    a += 1;
    let k = 3;
    let sum = apply(|t| t * k + b, a);
    let weights = heavy(v) + heavy(v as u8);
    let top = largest([a, b, q, r, 7]);
    let mut seen = None;
    for j in 0..4 {
        if let Some(s) = seen { if s > 10 { continue; } }
        seen = Some(v + j);
    }
    let first = find(x, i).unwrap_or(LIMIT);
    let s = if v < 0 { Shape::Dot } else if v < 50 { Shape::Circle(v) } else { Shape::Box { w: v, h: 2 } };
    let mut steps = 0;
    'outer: for p in 0..5 {
        for q in 0..5 {
            if q == 3 { continue 'outer; }
            if p == 3 && v > 0 { break 'outer; }
            steps += p + q;
        }
    }
    let mut n = 100;
    let last = loop { n -= 7; if n < 10 { break n; } };
    let chain = if let Some(z) = seen && z > 0 && z % 2 == 0 { z } else { -z_or(seen) };
    let t = if let w = { let v = v ^ 5; v } { w & 15 } else { 0 };
    *o = late + sum + weights + top + seen.unwrap_or(0) + first + area(s) + steps + last + chain + t;
}
fn z_or(o: Option<i32>) -> i32 { match o { Some(z) if z > 5 => z, Some(z) => z + 1, None => 0 } }

struct Acc<const B: i32> { sum: Tile<f32, {[B]}>, count: i32 }

fn scale<T: FloatElement, const S: [i32; 1]>(t: Tile<T, S>, by: T) -> Tile<T, S> { t * by }
fn push<const B: i32>(acc: &mut Acc<B>, t: Tile<f32, {[B]}>) {
    acc.sum += t;
    acc.count += 1;
}

#[tile]
fn tiles<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, n: i32) {
    let pid = program_id(0);
    if pid >= num_programs(0) { return; }
    let mut acc = Acc { sum: constant(0.0, shape![B]), count: 0 };
    let mut k = 0;
    while k < n {
        let t = load_tile(x, shape![B], [pid]);
        match k % 3 {
            0 => push(&mut acc, t),
            1 => push(&mut acc, scale(t, 2.0)),
            _ => { if k > 5 { break; } }
        }
        k += 1;
    }
    let twice = |t: Tile<f32, {[B]}>| t + t;
    let parts = [acc.sum, twice(acc.sum)];
    let mut r = parts[1];
    for j in 0..2usize { r = r + parts[j]; }
    let lane = convert_tile::<f32>(iota::<i32, {[B]}>(shape![B]));
    let neg = lt_tile(r, constant(0.0, shape![B]));
    let picked = select(neg, -r, exp(lane * 0.0) * r);
    z.store(picked + (acc.count as f32).broadcast(shape![B]) + max(1.0f32, 0.5) - min_tile(lane, lane) + lane);
}

#[tile]
fn matrix<T: ElementType, const S: [i32; 2]>(z: &mut Tensor<T, S>, x: &Tensor<T, {[-1, -1]}>) {
    let p = x.partition(shape![S[0], S[1]]);
    let (i, j, _) = get_tile_block_id();
    z.store(p.load([i, j]));
}

#[kernel]
fn powers(x: &[f32], mut out: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(o) = out.get_mut(idx) { *o = x[i].powi(3) + x[i].powi((i % 9) as i32 - 4); }
}
