fn main() {
    let map: HashMap<i32, i32> = 4;
}
