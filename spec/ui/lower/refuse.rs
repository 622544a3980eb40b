#[kernel]
fn pick(mut c: DisjointSlice<f32>, up: bool) {
    let mut a = (1.0f32, 0);
    let mut b = (2.0f32, 0);
    let r = if up { &mut a } else { &mut b };
    r.0 = 3.0;
    if let Some(o) = c.get_mut(thread::index_1d()) { *o = a.0 + b.0; }
}
//@ call pick(tensor f32 [8], true)

#[kernel]
fn alternatives(mut c: DisjointSlice<i32>, n: i32) {
    let p = (n, n + 1);
    let v = match p { (1, x) | (x, 1) => x, _ => 0 };
    if let Some(o) = c.get_mut(thread::index_1d()) { *o = v; }
}
//@ call alternatives(tensor i32 [8], 2)

#[kernel]
fn captured(mut c: DisjointSlice<i32>) {
    let mut n = 1;
    let f = move |x: i32| x + n;
    n += 1;
    if let Some(o) = c.get_mut(thread::index_1d()) { *o = f(n); }
}
//@ call captured(tensor i32 [8])

#[tile]
fn gone(z: &mut Tensor<i32, {[4]}>, n: i32) {
    let table = [1, 2, 3];
    let inside = { &table[n as usize] };
    let r = if n > 0 { &table[n as usize] } else { return; };
    z.store(constant(*r + *inside, shape![4]));
}
//@ call gone(part i32 [8] tile [4], 1)
