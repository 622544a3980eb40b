fn later<const S: [i32; N], const N: usize>() {}
fn itself<const S: [i32; S]>() {}
fn earlier<const N: usize, const S: [i32; N]>() {}
fn sum<const S: [i32; {N + 1}], const N: usize>() {}
struct Plate<const S: [i32; N], const N: usize> {}
fn shape<const S: [i32; N]>(t: Tile<f32, S>) -> Tile<f32, S> { t }
fn fine<const S: [i32; 2]>(t: Tile<f32, S>) -> Tile<f32, S> { t }
