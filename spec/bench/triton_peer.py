"""Triton's kernels of the rows: add for launch and compile, softmax and rmsnorm."""
import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    tl.store(z + o, tl.load(x + o, mask=m) + tl.load(y + o, mask=m), mask=m)


@triton.jit
def softmax(x, z, n, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    o = tl.arange(0, B)
    m = o < n
    v = tl.load(x + r * n + o, mask=m, other=-float("inf")).to(tl.float32)
    v = tl.exp(v - tl.max(v, 0))
    tl.store(z + r * n + o, v / tl.sum(v, 0), mask=m)


@triton.jit
def rmsnorm(x, w, z, n, eps, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    o = tl.arange(0, B)
    m = o < n
    v = tl.load(x + r * n + o, mask=m, other=0.0).to(tl.float32)
    s = 1.0 / tl.sqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(z + r * n + o, v * s * tl.load(w + o, mask=m), mask=m)
