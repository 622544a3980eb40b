fn precedence() {
    let a = 1 + 2 * 3 - 4 / 5 % 6;
    let b = a << 1 & 2 | 3 ^ 4;
    let c = (a + b) * -c.d()[0] as f32 as i32;
    let d = a == b && c != d || !e;
    let e = &mut *a.b;
    let f = &&x;
    let g = &raw const x.y as *const u8;
    let h = &raw mut TILE;
    x = y = z;
    x += 1;
    y <<= 2;
    y >>= 3;
    *out = a[i] + b[i];
    x as usize + y as usize;
    (x as usize) < y;
    a..b + 1;
    ..;
    a..;
    ..=b;
    0i32..num_tiles;
    (start..len).step_by(step as usize);
    x?.y?;
    t.0.1.2;
    f(a)(b)[c].d;
    (s.f)(1);
    return;
}
fn literals() {
    let a = (1, 1_000u64, 0xFi32, 0xff_u8, 0o17, 0b1010, 1.0, 1., 1e10, 5.877472e-39, 1.0e30f32, 2f32);
    let b = ('a', '\n', '\'', '\u{1F600}', b'x', b'\xff');
    let c = ("text \"quoted\"", r"raw\n", r##"raw "# still"##, b"bytes\0", br#"raw"#, "line \
        continued");
    let d = (true, false);
    1.max(2);
    (1.).sqrt();
}
fn paths() {
    None::<scope::TileBlock>;
    convert_scalar::<f32>(x);
    part.load_pipelined::<LAT>([a, b]);
    assume_div_by::<_, 16>(t);
    thread::index_2d::<{ W * 2 }>();
    Array::<{ [1, 0] }> { dims: &[1i32, 0i32] };
    <T as Trait>::X;
    <<A as B>::C as D>::E::f::<-1>();
    <[T]>::len(x);
    <f32>::MAX;
    ::std::mem::swap(&mut a, &mut b);
    Vec::<Vec<u8>>::new();
    r#type + r#match;
    Self::new(self.x, super::y, crate::z);
}
fn structs() {
    let p = Point { x: 1.0, y, ..base };
    let q = Pair { 0: a, 1: b };
    let e = Empty {};
    let Point { x, y: ref mut z, .. } = p;
    if x == (Point { x: 1 }) {}
}
fn control(mut n: i32) -> i32 {
    if n > 0 {
        1
    } else if let Some(x) = opt && x > 0 && let Ok(y) = x.get() {
        2
    } else {
        3
    };
    let Some(i) = idx else {
        return 0;
    };
    #[unroll(4)]
    while n > 0 {
        n -= 1;
    }
    'outer: for (i, x) in a.iter().enumerate() {
        'inner: loop {
            if i == 3 {
                continue 'outer;
            }
            break 'inner;
        }
    }
    let v = 'block: {
        break 'block 1 + 2;
    };
    let w = loop {
        break match v {
            0 | 1 => 5,
            2..=4 => { 6 }
            -3.. => 7,
            ..MIN => 8,
            n @ (5 | 6) if n > 5 && ok => n,
            Some(ref x) => *x,
            Shape::Rect { w, h: _ } => w,
            &[first, .., last] => first + last,
            (a, .., b) => unsafe { *a },
            'a'..='z' | "text" | true => return 9,
            _ => 0,
        };
    };
    unsafe {
        *ptr.add(1) = 2.0;
    }
    match x {}.go();
    if a { b } else { c }.d() + 1;
    {}
    -1;
    const { N + 1 };
    while let Some(x) = it.next() {}
    for _ in 0.. {}
    for i in (0..n).rev() {}
    const K: i32 = 3;
    fn inner<T>(x: T) -> T {
        x
    }
    use warp::*;
    static mut S: u32 = 0;
    _ = f();
    (a, _) = (1, 2);
    ;
    n
}
fn closures() {
    let f = |acc, x| acc + x;
    let g = move |a: f32, &b: &f32| -> f32 { a + b };
    let h = || {};
    reduce(x, 0, |acc, x| {
        let y = acc;
        y + x
    });
    let k = |(a, b), [c, d]| || a;
}
fn macros() {
    let s = const_shape![BM, BN];
    cuda_tile_print!("{} {}\n", a, pid.0);
    gpu_assert!(x < y, "text");
    let a = vec![0u8; N * 2];
    ptx_asm!("add.u32 %0, %1, %2;", out("=r") x, in("r") y, options(register_only));
    matches!(x, Some(_) | None);
    let t = name! { a => b };
    call!(a::b,);
    call!(a::b, c);
    launch! { kernel: f, args: [slice(a)] }
    std::println!("{x} {}", y = 3);
    empty!();
    nested!(a, inner!(b, c), [d; 2]);
}
