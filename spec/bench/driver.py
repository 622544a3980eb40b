"""Runs the rows of spec/bench and writes one JSON file; answers them as the peers in Python.

    python3 spec/bench/driver.py --gpulua PROGRAM --out FILE [--commit ID] [--limit SECONDS] [ROW ..]
    python3 spec/bench/driver.py --serve

A row is a script of this folder. It runs in a process group of its own with a time limit; a line
"? REQUEST" of it is answered here ("ok VALUE.." or "error MESSAGE"), a line of JSON is a result. What
fails becomes an error row; the other rows go on. With --serve the requests come on the standard input.
"""
import argparse
import ctypes
import datetime
import functools
import json
import os
import pathlib
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = pathlib.Path(__file__).resolve().parent

# (row, seconds it may take). The first rows are those whose figures would be missed most.
ROWS = (("gemm", 150), ("attention", 150), ("gemm_forms", 60), ("add", 60), ("copy", 60), ("sum", 60), ("softmax", 90),
        ("rmsnorm", 90), ("transpose", 60), ("scan", 60), ("launch", 60), ("graph", 40), ("compile", 70),
        ("compile_matrix", 40), ("device", 40), ("start", 20),
        ("saxpy_cpu", 60), ("gemm_cpu", 40), ("compile_cpu", 30))
SCRIPTS = {"compile_cpu": ("compile.lua", "--device", "cpu")}


class Peers:
    """The peers; each imports what it needs when it is asked first."""

    def __init__(self):
        self.kept = {}

    def answer(self, words):
        method = getattr(self, "do_" + words[0], None)
        if method is None:
            raise ValueError("unknown request " + words[0])
        return method(*words[1:])

    def once(self, key, make):
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def torch(self):
        import torch
        return torch

    def do_forget(self):
        """Frees what the rows before have kept."""
        self.kept.clear()
        self.torch().cuda.empty_cache()
        return 0

    def timed(self, f, count):
        """Seconds a call, over calls that are enqueued back to back and end with one wait."""
        torch = self.torch()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            f()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / count

    def do_torch_add(self, n, count):
        torch, n = self.torch(), int(n)
        x = self.once("x", lambda: torch.randn(n, device="cuda"))
        y = self.once("y", lambda: torch.randn(n, device="cuda"))
        z = self.once("z", lambda: torch.empty_like(x))
        return self.timed(lambda: torch.add(x, y, out=z), int(count))

    def do_torch_copy(self, n, count):
        torch, n = self.torch(), int(n)
        x = self.once("x", lambda: torch.randn(n, device="cuda"))
        z = self.once("z", lambda: torch.empty_like(x))
        return self.timed(lambda: z.copy_(x), int(count))

    def rotated(self, key, sets, make):
        """A function that gives the next of `sets` values."""
        values = self.once(key, lambda: [make() for _ in range(sets)])
        turn = [0]

        def following():
            turn[0] = (turn[0] + 1) % sets
            return values[turn[0]]
        return following

    def do_gemm(self, kind, n, sets, count):
        """cuBLAS: bf16 as A B, tf32 and f8e4m3fn as A Bt."""
        torch, n = self.torch(), int(n)
        torch.backends.cuda.matmul.allow_tf32 = True
        dtype = {"bf16": torch.bfloat16, "tf32": torch.float32, "f8e4m3fn": torch.float8_e4m3fn}[kind]

        def pair():
            return [torch.randn(n, n, device="cuda").to(dtype) for _ in range(2)]
        following = self.rotated(("gemm", kind, n), int(sets), pair)
        if kind == "f8e4m3fn":
            one = self.once("one", lambda: torch.ones((), device="cuda"))

            def call():
                a, b = following()
                torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16)
        else:
            c = self.once(("gemm out", kind, n), lambda: torch.empty(n, n, device="cuda", dtype=dtype))

            def call():
                a, b = following()
                torch.matmul(a, b if kind == "bf16" else b.t(), out=c)
        return self.timed(call, int(count))

    def do_openblas(self, n, threads, count):
        """Seconds a product of two f32 matrices of n rows and columns."""
        n, count = int(n), int(count)
        # Its threads would go on for a while after a product, in the time of whose turn is next.
        os.environ["OPENBLAS_THREAD_TIMEOUT"] = "4"
        library = self.once("openblas", lambda: ctypes.CDLL("libopenblas.so.0"))
        library.openblas_set_num_threads(int(threads))

        def matrix():
            values = [random.gauss(0, 1) for _ in range(65521)]
            return (ctypes.c_float * (n * n))(*(values[i % len(values)] for i in range(n * n)))
        a, b, c = (self.once(("openblas", part, n), matrix) for part in range(3))
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        row_major, as_it_is = 101, 111
        start = time.perf_counter()
        for _ in range(count):
            library.cblas_sgemm(row_major, as_it_is, as_it_is, n, n, n, one, a, n, b, n, zero, c, n)
        return (time.perf_counter() - start) / count

    def following_triple(self, shape, sets):
        torch = self.torch()

        def triple():
            return [torch.randn(*shape, device="cuda").to(torch.bfloat16) for _ in range(3)]
        return self.rotated(("attention", *shape), int(sets), triple)

    def do_attention(self, depth, length, causal, batch, heads, sets, count):
        """cuDNN's fused attention, forward."""
        torch = self.torch()
        from torch.nn.attention import SDPBackend, sdpa_kernel
        following = self.following_triple([int(x) for x in (batch, heads, length, depth)], sets)

        def call():
            torch.nn.functional.scaled_dot_product_attention(*following(), is_causal=causal == "true")
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return self.timed(call, int(count))

    def approximate_tanh(self):
        """tanh by the hardware's instruction, for Inductor: its own is exact, and has a third of the speed."""
        torch = self.torch()
        from torch._inductor.lowering import make_pointwise, register_lowering
        from torch._inductor.virtualized import ops

        @torch.library.custom_op("gpulua_bench::tanh", mutates_args=())
        def tanh(x: torch.Tensor) -> torch.Tensor:
            return torch.tanh(x)
        tanh.register_fake(torch.tanh)
        torch.library.register_vmap("gpulua_bench::tanh", lambda info, dims, x: (torch.ops.gpulua_bench.tanh(x), dims[0]))
        lowered = functools.partial(ops.inline_asm_elementwise, asm="tanh.approx.f32 $0, $1;")
        register_lowering(torch.ops.gpulua_bench.tanh)(lambda x: make_pointwise(lowered)(x))
        return torch.ops.gpulua_bench.tanh

    def do_capped(self, cap, depth, length, batch, heads, sets, count):
        """FlexAttention, forward, with a soft cap on the scores."""
        torch, cap = self.torch(), float(cap)
        from torch.nn.attention.flex_attention import flex_attention
        tanh = self.once("tanh", self.approximate_tanh)
        attend = self.once("flex", lambda: torch.compile(flex_attention, dynamic=False))
        following = self.following_triple([int(x) for x in (batch, heads, length, depth)], sets)

        bend = self.once("bend", lambda: lambda score, *_: cap * tanh(score / cap))

        def call():
            return attend(*following(), score_mod=bend)
        self.once("compiled", call)
        return self.timed(call, int(count))

    def do_torch_sum(self, n, count):
        torch = self.torch()
        x = self.once("x", lambda: torch.randn(int(n), device="cuda"))
        return self.timed(lambda: torch.sum(x), int(count))

    def do_torch_cumsum(self, n, count):
        torch = self.torch()
        x = self.once("x", lambda: torch.randn(int(n), device="cuda"))
        z = self.once("z", lambda: torch.empty_like(x))
        return self.timed(lambda: torch.cumsum(x, 0, out=z), int(count))

    def do_torch_transpose(self, n, count):
        torch = self.torch()
        x = self.once("x", lambda: torch.randn(int(n), int(n), device="cuda"))
        return self.timed(lambda: x.t().contiguous(), int(count))

    def rows(self, m, n):
        """A matrix of bf16, its result, and weights of its columns."""
        torch = self.torch()
        make = lambda *shape: torch.randn(*shape, device="cuda", dtype=torch.bfloat16)
        x = self.once("x", lambda: make(int(m), int(n)))
        return x, self.once("z", lambda: torch.empty_like(x)), self.once("w", lambda: make(int(n)))

    def do_torch_softmax(self, m, n, count):
        torch, (x, _, _) = self.torch(), self.rows(m, n)
        return self.timed(lambda: torch.softmax(x, -1), int(count))

    def do_torch_rmsnorm(self, m, n, count):
        torch, (x, _, w) = self.torch(), self.rows(m, n)
        return self.timed(lambda: torch.nn.functional.rms_norm(x, (int(n),), w), int(count))

    def do_triton_softmax(self, m, n, warps, count):
        import triton_peer
        x, z, _ = self.rows(m, n)
        launch = triton_peer.softmax[(int(m),)]
        return self.timed(lambda: launch(x, z, int(n), power_of_two(n), num_warps=int(warps)), int(count))

    def do_triton_rmsnorm(self, m, n, warps, count):
        import triton_peer
        x, z, w = self.rows(m, n)
        launch = triton_peer.rmsnorm[(int(m),)]
        return self.timed(lambda: launch(x, w, z, int(n), 1e-6, power_of_two(n), num_warps=int(warps)), int(count))

    def do_launch(self, what, count):
        call = self.once("launch " + what, getattr(self, "launcher_" + what))
        return self.timed(call, int(count))

    def do_graph(self, nodes, replays):
        """Seconds a launch of torch.add in a graph that is replayed."""
        torch, nodes = self.torch(), int(nodes)

        def make():
            call = self.launcher_torch()
            call()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(nodes):
                    call()
            # What the graph reads must live as long as it.
            return graph, call
        graph = self.once(("graph", nodes), make)[0]
        graph.replay()
        return self.timed(graph.replay, int(replays)) / nodes

    def launcher_torch(self):
        torch = self.torch()
        x, y = torch.randn(1024, device="cuda"), torch.randn(1024, device="cuda")
        z = torch.empty_like(x)
        return lambda: torch.add(x, y, out=z)

    def launcher_cupy(self):
        import cupy
        x, y, z = (cupy.random.rand(1024, dtype=cupy.float32) for _ in range(3))
        kernel = cupy.RawKernel(nvrtc_source("add", "0.0f"), "add")
        args = (x, y, z, 1024)
        # CuPy's default stream is the legacy one, as torch's: the same wait ends both.
        return lambda: kernel((4,), (256,), args)

    def launcher_triton(self):
        torch, kernel = self.torch(), triton_kernel()
        x, y = torch.randn(1024, device="cuda"), torch.randn(1024, device="cuda")
        z = torch.empty_like(x)
        return lambda: kernel[(1,)](x, y, z, 1024, 1024)

    def do_nvrtc(self, number):
        """Seconds from source to loaded module by NVRTC, with a fresh cache."""
        import cupy
        os.environ["CUPY_CACHE_DIR"] = tempfile.mkdtemp(dir=self.once("folder", tempfile.mkdtemp))
        name = "add_%s_%d" % (number, len(os.listdir(self.kept["folder"])))
        source = nvrtc_source(name, "%s.0f" % number)
        start = time.perf_counter()
        cupy.RawKernel(source, name).compile()
        return time.perf_counter() - start

    def do_triton_compile(self):
        """Seconds from Triton's kernel to the loaded module, the process warm, with a fresh cache."""
        torch, kernel = self.torch(), triton_kernel()
        x = torch.randn(1024, device="cuda")
        z = torch.empty_like(x)
        times = []
        for _ in range(3):
            os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
            kernel.device_caches.clear()
            start = time.perf_counter()
            kernel[(1,)](x, x, z, 1024, 1024)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        return sorted(times)[1]


def power_of_two(n):
    return 1 << (int(n) - 1).bit_length()


def nvrtc_source(name, addend):
    return ('extern "C" __global__ void %s(const float *x, const float *y, float *z, int n) {'
            " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = x[i] + y[i] + %s; }" % (name, addend))


def triton_kernel():
    """Triton reads a kernel's source from its file, so that the kernel is a module's."""
    import triton_peer
    return triton_peer.add


def answer_line(peers, line):
    try:
        value = peers.answer(line.split())
        return "ok %.9g" % value
    except Exception as error:  # a peer's failure is the row's to report
        return "error " + " ".join(repr(error).split())[:300]


def serve():
    peers = Peers()
    print("ok", flush=True)
    for line in sys.stdin:
        print(answer_line(peers, line), flush=True)


class Timeout(Exception):
    pass


def stop(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def read_lines(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)


def follow(process, peers, deadline, results, log):
    """Takes the row's lines until it ends; a request gets its answer."""
    lines = queue.Queue()
    threading.Thread(target=read_lines, args=(process.stdout, lines), daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=max(0.01, deadline - time.monotonic()))
        except queue.Empty:
            raise Timeout() from None
        if line is None:
            return
        if line.startswith("? "):
            process.stdin.write(answer_line(peers, line[2:]) + "\n")
            process.stdin.flush()
        elif line.startswith("{"):
            results.append(json.loads(line))
        else:
            log.write(line)
        if time.monotonic() > deadline:
            raise Timeout()


def run_row(name, seconds, program, peers, log):
    """The results of one row; always at least one."""
    script, *options = SCRIPTS.get(name, (name + ".lua",))
    command = [program, str(FOLDER / script), *options, "--driven"]
    results, started = [], time.monotonic()
    # A request that hangs in a peer is left by the alarm, which raises here.
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(Timeout()))
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                               start_new_session=True)
    try:
        signal.alarm(int(seconds) + 5)
        follow(process, peers, started + seconds, results, log)
        status = process.wait(timeout=max(1, started + seconds - time.monotonic()))
        if status != 0 and not any("error" in row for row in results):
            results.append({"row": name, "error": "ended with status %d" % status})
    except (Timeout, subprocess.TimeoutExpired):
        results.append({"row": name, "error": "took more than %d s" % seconds})
    except Exception as error:
        results.append({"row": name, "error": repr(error)[:300]})
    finally:
        signal.alarm(0)
        stop(process)
    if not results:
        results.append({"row": name, "error": "printed nothing"})
    results[-1]["seconds"] = round(time.monotonic() - started, 1)
    return results


def run_text(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        return done.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def query_gpu():
    fields = ("name", "driver_version", "clocks.sm", "clocks.mem", "clocks.max.sm", "clocks.max.mem",
              "power.draw", "power.limit", "temperature.gpu", "clocks_event_reasons.active")
    text = run_text("nvidia-smi", "--query-gpu=" + ",".join(fields), "--format=csv,noheader,nounits", "-i", "0")
    return dict(zip(fields, (part.strip() for part in text.split(",")))) if text else None


def versions():
    found = {"python": sys.version.split()[0]}
    for name in ("torch", "triton", "cupy"):
        try:
            found[name] = __import__(name).__version__
        except Exception as error:
            found[name] = "none: " + repr(error)[:100]
    return found


def summary(row):
    if "error" in row:
        return "%-22s ERROR %s" % (row["row"], " ".join(row["error"].split())[:150])
    parts = ["%-22s %10.4g %-5s" % (row["row"], row["value"], row.get("unit", ""))]
    if row.get("peer_value") is not None:
        parts.append("peer %.4g (%s)" % (row["peer_value"], row.get("peer")))
    if row.get("ratio") is not None:
        parts.append("ratio %.3f" % row["ratio"])
    if "met" in row:
        parts.append("met: " + row["met"])
    if row.get("peer_error"):
        parts.append("peer: " + row["peer_error"][:100])
    return "  ".join(parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--gpulua")
    parser.add_argument("--out")
    parser.add_argument("--commit", default=os.environ.get("GPULUA_COMMIT"))
    parser.add_argument("--limit", type=float, default=300, help="seconds for all rows")
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args()
    if options.serve:
        return serve()
    if not options.gpulua or not options.out:
        parser.error("--gpulua and --out are needed")
    # What stops this program stops the row too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # Both sides compile anew: the driver's cache would hide it.
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    started = time.monotonic()
    peers = Peers()
    commit = options.commit or run_text("git", "-C", str(FOLDER), "rev-parse", "HEAD") or "unknown"
    gpu = query_gpu()
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": gpu["name"] if gpu else None,
        "driver": gpu["driver_version"] if gpu else None,
        "clocks": [{"when": "start", **gpu}] if gpu else [],
        "commit": commit,
        "gpulua": run_text(options.gpulua, "-v"),
        "peers": versions(),
        "rows": [],
    }
    with open(options.out + ".log", "w") as log:
        for name, seconds in ROWS:
            if options.rows and name not in options.rows:
                continue
            left = options.limit - (time.monotonic() - started)
            if left < 5:
                results = [{"row": name, "error": "no time was left"}]
            else:
                results = run_row(name, min(seconds, left), options.gpulua, peers, log)
            report["rows"] += results
            clocks = query_gpu()
            if clocks:
                report["clocks"].append({"when": "after " + name, **clocks})
            for row in results:
                print(summary(row), flush=True)
            # After each row: what was measured stays if the machine goes away.
            pathlib.Path(options.out).write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
