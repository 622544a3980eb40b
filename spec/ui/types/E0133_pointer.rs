fn f(p: *const f32) -> f32 {
    *p
}
