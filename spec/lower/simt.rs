// Values, variables and references of SIMT kernels. Expected IR below each kernel.
#[kernel]
#[launch_contract(domain = 1, block = (256, 1, 1))]
fn vecadd(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(out) = c.get_mut(idx) { *out = a[i] + b[i]; }
}
//@ call vecadd(tensor f32 [1000] at 8, tensor f32 [1000], tensor f32 [1000])
// CHECK: fn @vecadd simt
// CHECK-SAME: block 256 1 1, max_threads 256, equal_lens
// CHECK: %a: ptr<f32, global> base 0 unique unit_stride small
// CHECK: %a_len: u64 len 0
// CHECK-NOT: %b_len
// CHECK: %c: ptr<f32, global> base 2 written unique aligned16
// CHECK: site index 0 "a[i]" at "simt.rs" 7 48
// CHECK-NOT: grid_dim
// CHECK: %[[OK:[0-9]+]] = cmp[lt] %idx, %a_len
// CHECK: %[[C:[0-9]+]] = ptr_add %c, %idx
// CHECK: if %[[OK]] {
// CHECK: %[[M:[0-9]+]] = check_index[site 0] %idx, %a_len
// CHECK: %[[A:[0-9]+]] = ptr_add %a, %idx
// CHECK: load %[[A]], %[[M]]
// CHECK: store %[[C]], %{{[0-9]+$}}
// CHECK: }

// Different lengths: each slice has its own. Without a contract a grid of more than one dimension
// gives the index that no slice has.
//@ call vecadd2(tensor f32 [1000], tensor f32 [999])
#[kernel]
fn vecadd2(a: &[f32], mut c: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    if let Some(out) = c.get_mut(idx) { *out = a[i]; }
}
// CHECK-LABEL: fn @vecadd2
// CHECK-NOT: equal_lens
// CHECK: %a_len: u64 len 0
// CHECK: %c_len: u64 len 1
// CHECK: const[18446744073709551615]
// CHECK: grid_dim[1]
// CHECK: grid_dim[2]
// CHECK: %idx = select

// Only what a loop changes is carried; a break gives the loop's results.
//@ call carry(tensor i32 [8], 3)
#[kernel]
fn carry(mut c: DisjointSlice<i32>, n: i32) {
    let mut same = n;
    let mut total = 0;
    let mut k = 0;
    loop {
        if k == n { same = 7; break; }
        total += k * n;
        k += 1;
    }
    if let Some(o) = c.get_mut(thread::index_1d()) { *o = total + same; }
}
// CHECK-LABEL: fn @carry
// CHECK: = loop ^0 %total, %k : i32, i32, i32 (%{{[a-z.0-9]+}}: i32, %{{[a-z.0-9]+}}: i32) {
// CHECK: break ^0 %{{[0-9]+}}, %total{{.*}}, %k
// CHECK: yield %{{[0-9]+}}, %{{[0-9]+$}}

// An early return is a block left by break; a return at the end is nothing.
fn tail(x: i32) -> i32 { return x + 1; }
fn early(x: i32) -> i32 {
    if x > 10 { return 10; }
    x * 2
}
//@ call inline(tensor i32 [8], 3)
#[kernel]
fn inline(mut c: DisjointSlice<i32>, n: i32) {
    if let Some(o) = c.get_mut(thread::index_1d()) { *o = early(tail(n)); }
}
// CHECK-LABEL: fn @inline
// CHECK: if %
// CHECK-NEXT: const[1]
// CHECK-NEXT: %[[X:.+]] = add %n, %
// CHECK-NEXT: block ^0 : i32 {
// CHECK: if %
// CHECK: break ^0
// CHECK: mul %[[X]]
// CHECK: yield

// A reference to a known variable is no memory; one that is chosen makes slots.
fn add_to(x: &mut i32, by: i32) { *x += by; }
//@ call refs(tensor i32 [8], 3, true)
#[kernel]
fn refs(mut c: DisjointSlice<i32>, n: i32, up: bool) {
    let mut known = n;
    add_to(&mut known, 2);
    let r = &mut known;
    *r *= 3;
    let mut a = n;
    let mut b = n + 1;
    let chosen = if up { &mut a } else { &mut b };
    *chosen = 5;
    if let Some(o) = c.get_mut(thread::index_1d()) { *o = known + a + b; }
}
// CHECK-LABEL: fn @refs
// CHECK-COUNT-2: slot[1] : ptr<i32, local>
// CHECK-NOT: slot
// CHECK: %[[P:.+]] = if %up : ptr<i32, local> {
// CHECK: store %[[P]], %{{[0-9]+$}}

// && runs its right side only when it must, || too; a right side without effect is computed.
//@ call logic(tensor i32 [8], tensor i32 [8], 3)
#[kernel]
fn logic(x: &[i32], mut c: DisjointSlice<i32>, n: usize) {
    if let Some(o) = c.get_mut(thread::index_1d()) {
        let cheap = n > 3 && n < 9;
        let checked = n > 3 && x[n] > 0;
        if cheap || checked { *o = 1; }
    }
}
// CHECK-LABEL: fn @logic
// CHECK: and %
// CHECK: = if %{{[0-9]+}} : bool {
// CHECK: check_index
// CHECK: } else {
// CHECK-NEXT: const[false]
// CHECK: or %
