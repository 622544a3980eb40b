// gpu.rand and gpu.randn of tensors on a GPU: Philox4x32-10, four numbers of each block of its words.
// `start` is the number of z's first element. lua/random.c has the same numbers, bit for bit, for tensors of the host: every sum of a product is
// a fused one here and there, and nothing else rounds in more than one way.

// The word of each element, and the one before or after it, which belongs to the same pair.
fn words<const B: i32>(seed: i64, stream: i64, at: Tile<u64, {[B]}>) -> (Tile<u32, {[B]}>, Tile<u32, {[B]}>) {
    let mut k0 = seed as u32;
    let mut k1 = (seed as u64 >> 32) as u32;
    let block = at / 4;
    let mut c0: Tile<u32, {[B]}> = convert_tile(block);
    let mut c1: Tile<u32, {[B]}> = convert_tile(block >> 32);
    let mut c2: Tile<u32, {[B]}> = constant(stream as u32, shape![B]);
    let mut c3: Tile<u32, {[B]}> = constant((stream as u64 >> 32) as u32, shape![B]);
    let m0: Tile<u32, {[B]}> = constant(0xD2511F53u32, shape![B]);
    let m1: Tile<u32, {[B]}> = constant(0xCD9E8D57u32, shape![B]);
    for _ in 0..10 {
        let h0 = mulhii(m0, c0);
        let h1 = mulhii(m1, c2);
        let l0 = m0 * c0;
        let l1 = m1 * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9E3779B9u32;
        k1 += 0xBB67AE85u32;
    }
    let lane = at % 4;
    let is_second = ge_tile(lane, constant(2u64, shape![B]));
    let first = select(is_second, c2, c0);
    let other = select(is_second, c3, c1);
    (first, other)
}

fn is_odd<const B: i32>(at: Tile<u64, {[B]}>) -> Tile<bool, {[B]}> {
    ne_tile(at % 2, constant(0u64, shape![B]))
}

fn places<const B: i32>(start: i64) -> Tile<u64, {[B]}> {
    let lane: Tile<u64, {[B]}> = iota(shape![B]);
    lane + (start as u64 + program_id(0) as u64 * B as u64)
}

#[tile]
fn uniform<T: ElementType, const B: i32>(z: &mut Tensor<T, {[B]}>, seed: i64, stream: i64, start: i64) {
    let at: Tile<u64, {[B]}> = places(start);
    let (first, other) = words(seed, stream, at);
    let word = select(is_odd(at), other, first);
    let v: Tile<f64, {[B]}> = convert_tile(word >> 8);
    z.store(convert_tile(v * 5.9604644775390625e-8));
}

// The natural logarithm of numbers in (0, 1]: of 2^e * m it is e * ln 2 + 2 * artanh((m - 1) / (m + 1)).
fn ln<const B: i32>(u: Tile<f64, {[B]}>) -> Tile<f64, {[B]}> {
    let bits: Tile<u64, {[B]}> = bitcast(u);
    let field: Tile<f64, {[B]}> = convert_tile(bits >> 52);
    let half: Tile<f64, {[B]}> = bitcast((bits & 0xfffffffffffff) | 0x3fe0000000000000);
    let is_low = lt_tile(half, constant(0.7071067811865476, shape![B]));
    let m = select(is_low, half + half, half);
    let e = select(is_low, field - 1023.0, field - 1022.0);
    let s = (m - 1.0) / (m + 1.0);
    let t = s * s;
    let mut p = constant(2.0 / 21.0, shape![B]);
    p = fma(p, t, constant(2.0 / 19.0, shape![B]));
    p = fma(p, t, constant(2.0 / 17.0, shape![B]));
    p = fma(p, t, constant(2.0 / 15.0, shape![B]));
    p = fma(p, t, constant(2.0 / 13.0, shape![B]));
    p = fma(p, t, constant(2.0 / 11.0, shape![B]));
    p = fma(p, t, constant(2.0 / 9.0, shape![B]));
    p = fma(p, t, constant(2.0 / 7.0, shape![B]));
    p = fma(p, t, constant(2.0 / 5.0, shape![B]));
    p = fma(p, t, constant(2.0 / 3.0, shape![B]));
    p = fma(p, t, constant(2.0, shape![B]));
    fma(e, constant(0.6931471805599453, shape![B]), s * p)
}

// Cosine and sine of v turns, v in [0, 1): of a quarter turn at most, then by quadrant.
fn turn<const B: i32>(v: Tile<f64, {[B]}>) -> (Tile<f64, {[B]}>, Tile<f64, {[B]}>) {
    let quarters = v * 4.0;
    let k = floor(fma(v, constant(4.0, shape![B]), constant(0.5, shape![B])));
    let r = (quarters - k) * 1.5707963267948966;
    let t = r * r;
    let mut s = constant(-1.0 / 1307674368000.0, shape![B]);
    s = fma(s, t, constant(1.0 / 6227020800.0, shape![B]));
    s = fma(s, t, constant(-1.0 / 39916800.0, shape![B]));
    s = fma(s, t, constant(1.0 / 362880.0, shape![B]));
    s = fma(s, t, constant(-1.0 / 5040.0, shape![B]));
    s = fma(s, t, constant(1.0 / 120.0, shape![B]));
    s = fma(s, t, constant(-1.0 / 6.0, shape![B]));
    s = fma(s, t, constant(1.0, shape![B])) * r;
    let mut c = constant(1.0 / 20922789888000.0, shape![B]);
    c = fma(c, t, constant(-1.0 / 87178291200.0, shape![B]));
    c = fma(c, t, constant(1.0 / 479001600.0, shape![B]));
    c = fma(c, t, constant(-1.0 / 3628800.0, shape![B]));
    c = fma(c, t, constant(1.0 / 40320.0, shape![B]));
    c = fma(c, t, constant(-1.0 / 720.0, shape![B]));
    c = fma(c, t, constant(1.0 / 24.0, shape![B]));
    c = fma(c, t, constant(-0.5, shape![B]));
    c = fma(c, t, constant(1.0, shape![B]));
    let quadrant: Tile<i32, {[B]}> = convert_tile(k);
    let is_turned = ne_tile(quadrant & 1, constant(0, shape![B]));
    let x = select(is_turned, s, c);
    let y = select(is_turned, c, s);
    let is_left = ne_tile((quadrant + 1) & 2, constant(0, shape![B]));
    let is_below = ne_tile(quadrant & 2, constant(0, shape![B]));
    (select(is_left, -x, x), select(is_below, -y, y))
}

// Box and Muller: two numbers of each pair of words.
#[tile]
fn normal<T: ElementType, const B: i32>(z: &mut Tensor<T, {[B]}>, seed: i64, stream: i64, start: i64) {
    let at: Tile<u64, {[B]}> = places(start);
    let (first, other) = words(seed, stream, at);
    let u: Tile<f64, {[B]}> = convert_tile(first);
    let v: Tile<f64, {[B]}> = convert_tile(other);
    let radius = sqrt(ln((u + 1.0) * 2.3283064365386963e-10) * -2.0);
    let (x, y) = turn(v * 2.3283064365386963e-10);
    z.store(convert_tile(radius * select(is_odd(at), y, x)));
}
