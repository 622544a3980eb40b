fn main() {
    let mut r = 1;
    print!("{}", r);
}
