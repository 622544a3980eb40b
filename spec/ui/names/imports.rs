use candle::Thing;
use candle::unused::Other;
use std::sync::Arc;
use cutile::core::Tyle;
use self::inner::missing;
use self::outer::inner as nested;
use cuda_device::{kernel, thread, DisjointSlice};

mod inner { pub fn here() {} }

fn of_unknown_crate(x: Thing) {}
fn twice(x: Thing) {}
fn of_unknown_part(x: Arc) {}
fn of_missing(x: Tyle<f32, {[1]}>) {}

#[kernel]
fn uses_known(mut c: DisjointSlice<f32>) {
    if let Some(x) = c.get_mut(thread::index_1d()) {
        *x = 1.0;
    }
}
