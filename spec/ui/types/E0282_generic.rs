// Nothing but the call itself can say which integers these are.
#[tile]
unsafe fn place(p: *mut f32) {
    let at = pointer_to_tile(p).reshape(shape![1]).broadcast(shape![8]).offset_tile(iota(shape![8]));
}
