const A: i32 = 1 / 0;
const C: u8 = 255u8 + 1;
const D: i32 = [1, 2][2];
#[kernel]
fn h() {
    let a = 1 / 0;
    let b = 255u8 + 1;
    let c = [1.0, 2.0][2];
    let e = 1 % 0;
}

fn shifts(n: i32) -> i32 {
    let a = 1u32 << 32;
    let b = -128i8 - 1;
    let c = 200u8 * (1 + 1);
    let arr = [1, 2];
    arr[2] + n / 0
}

fn fits(n: i32) -> i32 {
    let a = 1u32 << 31;
    let b = -127i8 - 1;
    let c = 0xffff_ffff_ffff_ffffu64 - 1;
    let d = [1, 2][1];
    n / 1 + n % 3 + i32::MAX
}
