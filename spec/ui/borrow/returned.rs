// A borrow that may go to the caller is in scope for all that the borrowed place is used for after it.
pub fn field(p: &mut (i32, i32), c: bool) -> &mut i32 {
    let r = &mut p.0;
    if c {
        return r;
    }
    p.0 = 1;
    &mut p.1
}
pub fn whole<'a>(x: &'a mut i32, y: &'a mut i32, c: bool) -> &'a mut i32 {
    let r = &mut *x;
    if c {
        return r;
    }
    *x = 2;
    y
}
pub fn shared(p: &mut i32, c: bool) -> &i32 {
    let r = &*p;
    if c {
        return r;
    }
    *p += 1;
    p
}
pub fn in_loop(a: &mut [i32; 4], n: i32) -> Option<&mut i32> {
    let mut i = 0;
    while i < 4 {
        let r = &mut a[i];
        if *r == n {
            return Some(r);
        }
        a[i] = n;
        i += 1;
    }
    None
}
pub fn only_there(p: &mut (i32, i32), c: bool) -> &mut i32 {
    if c {
        return &mut p.0;
    }
    p.0 = 1;
    &mut p.1
}
pub fn other_part(p: &mut (i32, i32), c: bool) -> &mut i32 {
    let r = &mut p.0;
    if c {
        return r;
    }
    p.1 = 1;
    &mut p.1
}
