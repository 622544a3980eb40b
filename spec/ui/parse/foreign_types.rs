fn parameter(float x) {}
fn later(x: f32, float y) {}
fn numbers(int n) {}
fn counted() { for (int j = 0; j < 4; j++) {} }
