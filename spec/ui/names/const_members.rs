// What an impl adds to its trait.
trait Scale {
    const FACTOR: i32;
}
struct Doubled;
impl Scale for Doubled {
    const FACTOR: i32 = 2;
    const OFFSET: i32 = 1;
}
