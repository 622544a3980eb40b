fn f() {
    let a = 0x;
    let b = 0b12;
    let c = 1e;
    let d = "\q \x9";
    let e = 'ab';
    let g = '';
    let h = 1f33;
    let i = "text"f32;
    let j = b'x;
    let k = 'x + 1;
    let l = c"text";
}
