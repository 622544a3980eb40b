fn f(a: i32, (b, a): (i32, i32), b: f32) {}
