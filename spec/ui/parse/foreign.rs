// What other languages write, and what is said of it.
__global__ void first(float *x) {}
fn second(x) {}
fn third(x: f32) { let float y = x; }
fn fourth(n: i32) { let a = 1 if n > 0 else 2; }
fn fifth(n: i32) { let a = n > 0 ? 1 : 2; }
fn sixth(a: f32, b: f32) { let c = a @ b; }
fn seventh(a: f32) { let f = lambda x: x; }
fn eighth(a: f32) { let c = where(a, a, a); }
fn ninth(a: f32) {
    # a comment
}
@tile
fn tenth() {}
