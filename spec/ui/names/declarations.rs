// What a declaration shows to be wrong by itself.
struct Node { value: f32, next: Option<Node> }
struct Ping { pong: [Pong; 2] }
enum Pong { End, Go(Ping) }
struct Fine<'a> { next: &'a Fine<'a> }

enum Twice { A = 1, B = 1 }
enum Follows { A = 3, B = 2, C }

struct Unused<T> { x: f32 }
enum UnusedLife<'a> { A, B(f32) }
struct Used<'a, T, const N: usize> { x: &'a f32, y: [T; 2] }

struct S;
struct W<T>(T);
impl<T> S { fn f(&self) {} }
impl<T, const N: usize> W<T> { fn g(&self) {} }
trait Of<T> {}
impl<T> Of<T> for S {}

#[derive(Clone, Copy)]
struct Handle<'a> { x: f32, y: &'a mut f32 }
#[derive(Clone)]
struct Owner { x: f32 }
impl Copy for Owner {}
#[derive(Clone)]
struct Holder { x: Handle2 }
struct Handle2;
impl Clone for Holder2 { fn clone(&self) -> Holder2 { Holder2 { x: Handle2 } } }
struct Holder2 { x: Handle2 }
impl Copy for Holder2 {}
#[derive(Copy)]
struct NoClone { x: f32 }
