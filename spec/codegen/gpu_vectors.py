"""Runs the records of `gp_codegen_tool vectors` and `agree` on an NVIDIA GPU.

usage: gpu_vectors.py FILE..   (numpy and a CUDA driver; no toolkit)

Every written byte must equal the interpreter's, but for the distance in units of the last place
that the record allows. Exit status 1 when a record differs.
"""
import ctypes
import struct
import sys

import numpy as np

cuda = ctypes.CDLL("libcuda.so.1")
MAILBOX = 64


def check(result, what):
    if result:
        sys.exit(f"{what}: CUDA error {result}")


def init():
    device, context = ctypes.c_int(), ctypes.c_void_p()
    check(cuda.cuInit(0), "cuInit")
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "context")
    check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")


class Reader:
    def __init__(self, path):
        self.data, self.at = open(path, "rb").read(), 0

    def take(self, n):
        self.at += n
        return self.data[self.at - n : self.at]

    def words(self, n):
        return struct.unpack(f"<{n}I", self.take(4 * n))

    def block(self):
        return self.take(self.words(1)[0])


def record(r):
    out = {"name": r.block().decode(), "ptx": r.block(), "entry": r.block()}
    out["grid"], out["params"] = r.words(6), bytearray(r.block())
    out["fixes"] = [r.words(2) for _ in range(r.words(1)[0])]
    out["args"] = [(r.block().decode(), r.block(), r.block()) for _ in range(r.words(1)[0])]
    out["bound"] = struct.unpack("<d", r.take(8))[0]
    return out


def alloc(content):
    ptr = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(ptr), ctypes.c_size_t(len(content) + 256)), "alloc")
    check(cuda.cuMemcpyHtoD_v2(ptr, content, ctypes.c_size_t(len(content))), "copy")
    return ptr


def launch(rec):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    result = cuda.cuModuleLoadDataEx(ctypes.byref(module), rec["ptx"], 0, None, None)
    check(result, rec["name"] + ": load")
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, rec["entry"]), "function")
    memory = [alloc(before) for _, before, _ in rec["args"]]
    mailbox = alloc(bytes(MAILBOX))
    for offset, arg in rec["fixes"]:
        ptr = mailbox if arg == 0xFFFFFFFF else memory[arg]
        rec["params"][offset : offset + 8] = struct.pack("<Q", ptr.value)
    buffer = ctypes.create_string_buffer(bytes(rec["params"]), len(rec["params"]))
    size = ctypes.c_size_t(len(rec["params"]))
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
    check(cuda.cuLaunchKernel(function, *rec["grid"], 0, None, None, extra), rec["name"])
    check(cuda.cuCtxSynchronize(), rec["name"] + ": run")
    results = []
    for ptr, (_, before, _) in zip(memory, rec["args"]):
        out = ctypes.create_string_buffer(len(before))
        check(cuda.cuMemcpyDtoH_v2(out, ptr, ctypes.c_size_t(len(before))), "copy back")
        results.append(out.raw)
        cuda.cuMemFree_v2(ptr)
    cuda.cuMemFree_v2(mailbox)
    cuda.cuModuleUnload(module)
    return results


FLOATS = {"f64": (np.float64, 53), "f32": (np.float32, 24), "f16": (np.float16, 11),
          "tf32": (np.float32, 11), "bf16": (None, 8)}


def distance(elem, got, want):
    """Largest distance in units of the last place, and where."""
    if elem not in FLOATS:
        width = np.uint8
        a, b = np.frombuffer(got, width), np.frombuffer(want, width)
        if elem in ("f8e4m3fn", "f8e5m2"):  # a NaN's sign is nobody's promise
            low = 0x7F if elem == "f8e4m3fn" else 0x7D
            nan = ((a & 0x7F) >= low) & ((b & 0x7F) >= low)
            a = np.where(nan, b, a)
        bad = np.flatnonzero(a != b)
        return (np.inf, int(bad[0])) if len(bad) else (0.0, 0)
    kind, digits = FLOATS[elem]
    if kind is None:
        a, b = [(np.frombuffer(x, np.uint16).astype(np.uint32) << 16).view(np.float32)
                for x in (got, want)]
    else:
        a, b = np.frombuffer(got, kind), np.frombuffer(want, kind)
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(b)[1] - 1, -126 if elem != "f64" else -1022)
        d = np.abs(a - b) / np.ldexp(1.0, exponent - digits + 1)
    same = ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
    d = np.where(same, 0.0, np.where(np.isfinite(d), np.where(a == b, np.inf, d), np.inf))
    at = int(np.argmax(d))
    return float(d[at]), at


def main():
    init()
    failed = count = 0
    worst = {}
    for path in sys.argv[1:]:
        r = Reader(path)
        while r.at < len(r.data):
            rec, count = record(r), count + 1
            for i, (got, (elem, before, want)) in enumerate(zip(launch(rec), rec["args"])):
                ulp, at = distance(elem, got, want)
                key = " ".join(rec["name"].split()[1:3])
                if rec["bound"]:
                    worst[key] = max(worst.get(key, 0), ulp)
                if ulp > rec["bound"]:
                    failed += 1
                    print(f"FAILED {rec['name']}: argument {i} ({elem}) by {ulp:g} ulp at {at}")
    print("worst:", ", ".join(f"{k} {v:.2f}" for k, v in sorted(worst.items()) if v > 0))
    print(f"{count} records, {failed} failed")
    return failed != 0


sys.exit(main())
