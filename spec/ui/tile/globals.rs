// Statics of a tile module.
#[cutile::module]
mod m {
    use cutile::core::*;
    static FINE: Global<i32, {[]}> = Global::new(0);
    static NUMBER: i32 = 0;
    static FLOAT: Global<f32, {[]}> = Global::new(0);
    #[cutile::entry]
    fn f() {
        let (v, t) = FINE.load(ordering::Acquire, scope::Device);
        let n: f32 = tile_to_scalar(v);
        FINE.store(1, ordering::Release, scope::Device);
        FINE = Global::new(1);
    }
}
