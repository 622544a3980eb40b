// Globals: their orderings, and where they may be.
static COUNT: Global<i32, {[]}> = Global::new(0);
#[tile]
fn weak() { let (v, t) = COUNT.load(ordering::Weak, scope::Device); }
//@ call weak{grid = 1}()
#[tile]
fn block() { let t = COUNT.store(scalar_to_tile(1i32), ordering::Release, scope::TileBlock); }
//@ call block{grid = 1}()
#[tile]
fn release() { let (v, t) = COUNT.load(ordering::Release, scope::Device); }
//@ call release{grid = 1}()
#[tile]
fn local() { let g: Global<i32, {[]}> = Global::new(3); let (v, t) = g.load(ordering::Acquire, scope::Device); }
//@ call local{grid = 1}()
