// Imports of one name that all fail: each is reported, in either order.
mod m { pub fn g() {} }
mod unknown_first {
    use nothing::thing;
    use crate::m::thing;
    fn f() { thing(); thing(); }
}
mod unknown_last {
    use crate::m::thing;
    use nothing::thing;
    fn f() { thing(); }
}
mod both_unknown {
    use nothing::thing;
    use nowhere::thing;
    fn f() { thing(); }
}
mod unused {
    use nothing::thing;
    use nowhere::thing;
}
