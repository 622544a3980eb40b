// Arithmetic with a name, and what its modes become.
#[tile]
fn named(z: &mut Tensor<f32, {[8]}>, x: &Tensor<f32, {[-1]}>, n: &Tensor<i32, {[-1]}>) {
    let a = x.load_like(z);
    let i: Tile<i32, {[8]}> = n.load_like(z);
    let one = constant(3i32, shape![8]);
    let b = addf(a, subf(a, negf(a), rounding::NearestEven, ftz::Disabled), rounding::NearestEven, ftz::Enabled);
    let c = maxf(b, absf(a), nan::Enabled, ftz::Disabled);
    let d = sqrt(c, rounding::NegativeInf, ftz::Disabled) + sqrt(c) + rsqrt(c, ftz::Enabled) + exp2(c);
    let j = divi(i, one, rounding::NegativeInf) + remi(i, one) + mulhii(i, i);
    let k: Tile<i64, {[8]}> = exti(j);
    let l: Tile<i32, {[8]}> = trunci(k, overflow::None);
    let m = cmpf(a, d, predicate::LessThan, cmp_ordering::Unordered);
    let o = select(m, d, fma(a, a, a, rounding::NearestEven, ftz::Disabled));
    let f: Tile<f32, {[8]}> = itof(shli(l, one, overflow::None), rounding::NearestEven);
    let u: Tile<u32, {[8]}> = bitcast(f);
    let w: Tile<f32, {[8]}> = itof(u, rounding::NearestEven);
    let g: Tile<i32, {[8]}> = ftoi(o, rounding::Zero);
    let p = unsafe { assume_div_by::<_, 16>(w) };
    let q = select(cmpi(g, noti(i), predicate::Equal), p, o);
    z.store(q);
}
//@ call named(part f32 [8] tile [8], tensor f32 [8], tensor i32 [8])
// CHECK: fn @named
// CHECK: %10 = neg %a
// CHECK: sub %a, %10
// CHECK: cmp[lt]
// CHECK: %b = select
// CHECK: max %b, %[[A:[0-9]+]]
// CHECK: cmp[ne] %b, %b
// CHECK: %c = select %{{[0-9]+}}, %[[A]]
// CHECK: cast %c : tile<8 x f64>
// CHECK: sqrt %{{[0-9]+}} : tile<8 x f64>
// CHECK: fma
// CHECK: bitcast {{.*}} : tile<8 x i32>
// CHECK: sqrt %c : tile<8 x f32>
// CHECK: rsqrt
// CHECK: exp2 %c
// CHECK: div %i, %one
// CHECK: cmp[ge] %a, %d
// CHECK-NEXT: %m = not
// CHECK: %o = select %m, %d
// CHECK: %u = bitcast %f : tile<8 x u32>
// CHECK: %q = select
