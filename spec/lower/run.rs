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
