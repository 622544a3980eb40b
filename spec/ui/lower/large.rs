// Each helper calls the one before twice: the last would expand to 2^21 products.
fn f0(x: f32) -> f32 { x * x }
fn f1(x: f32) -> f32 { f0(f0(x)) }
fn f2(x: f32) -> f32 { f1(f1(x)) }
fn f3(x: f32) -> f32 { f2(f2(x)) }
fn f4(x: f32) -> f32 { f3(f3(x)) }
fn f5(x: f32) -> f32 { f4(f4(x)) }
fn f6(x: f32) -> f32 { f5(f5(x)) }
fn f7(x: f32) -> f32 { f6(f6(x)) }
fn f8(x: f32) -> f32 { f7(f7(x)) }
fn f9(x: f32) -> f32 { f8(f8(x)) }
fn f10(x: f32) -> f32 { f9(f9(x)) }
fn f11(x: f32) -> f32 { f10(f10(x)) }
fn f12(x: f32) -> f32 { f11(f11(x)) }
fn f13(x: f32) -> f32 { f12(f12(x)) }
fn f14(x: f32) -> f32 { f13(f13(x)) }
fn f15(x: f32) -> f32 { f14(f14(x)) }
fn f16(x: f32) -> f32 { f15(f15(x)) }
fn f17(x: f32) -> f32 { f16(f16(x)) }
fn f18(x: f32) -> f32 { f17(f17(x)) }
fn f19(x: f32) -> f32 { f18(f18(x)) }
fn f20(x: f32) -> f32 { f19(f19(x)) }

#[kernel]
fn tower(mut c: DisjointSlice<f32>) {
    if let Some(o) = c.get_mut(thread::index_1d()) { *o = f20(*o); }
}
//@ call tower(tensor f32 [8])
