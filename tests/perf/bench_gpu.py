"""fuselet's side of the comparison on a GPU: eager, compiled, and its CUDA graphs.

Cases, shapes, byte counts and lines are those of the PyTorch and JAX programs that compare_gpu.py runs beside it: one
JSON object a line, {"case", "variant", "unit", "value", …}. GB/s count each input read once and each output written once.

bench_gpu.py [--device cuda|cpu] [--small] [CASE…]
"""

import argparse
import json
import os
import tempfile
import time

# First calls are to compile, whatever ran on this machine before.
os.environ["FUSELET_CACHE_DIR"] = tempfile.mkdtemp(prefix="fuselet-bench-")

import fuselet as fl  # noqa: E402
import fuselet.nn as nn  # noqa: E402
import fuselet.nn.functional as F  # noqa: E402
from device_timing import Timing, emit, skipped  # noqa: E402

MODES = ("default", "reduce-overhead", "max-autotune")


def short(dtype):
    return str(dtype).split(".")[-1]


def autocast(dtype, device):
    if dtype == fl.float32:
        return fl.enable_grad()  # nothing to cast
    return fl.autocast(device, dtype=dtype)


class Bench:
    def __init__(self, device, small):
        self.device, self.small = device, small
        self.time = Timing(device, small)
        self.rows, self.cols = (32, 256) if small else (16384, 4096)

    def randn(self, *sizes, dtype=fl.float32, grad=False):
        # Drawn on the host where the device has no generator yet is no part of a measurement.
        t = fl.randn(*sizes, device=self.device).to(dtype)
        return t.requires_grad_() if grad else t

    def randint(self, high, sizes):
        return fl.randint(0, high, sizes, device=self.device)

    def variants(self, case, unit, value_of, named, make_inputs):
        """Times several functions in turns on the same sets of inputs and prints value_of(ms) of each."""
        usable = {}
        sets = self.time.sets_of(make_inputs)
        for variant, f in named.items():
            try:
                f(*sets[0])
                usable[variant] = f
            except Exception as error:  # a variant that fails must not hide the others
                skipped(case, variant, error)
        for variant, ms in zip(usable, self.time.ms_of_each(list(usable.values()), sets) if usable else []):
            emit(case, variant, unit, value_of(ms))

    # ---- ceilings ----------------------------------------------------------------------------------------------------
    def case_copy(self):
        n = 1 << (16 if self.small else 29)
        self.variants("copy", "GB/s", lambda ms: 2 * n * 4 / ms / 1e6, {"d2d": lambda a, b: b.copy_(a)},
                      lambda: (self.randn(n), fl.empty(n, device=self.device)))
        d = 64 if self.small else 8192
        self.variants("gemm8192_bf16", "TFLOP/s", lambda ms: 2 * d**3 / ms / 1e9, {"cublas": lambda m, n: m @ n},
                      lambda: (self.randn(d, d, dtype=fl.bfloat16), self.randn(d, d, dtype=fl.bfloat16)))

    # ---- memory-bound kernels ----------------------------------------------------------------------------------------
    def bandwidth(self, case, f, make_inputs, passes, dtype):
        size = passes * self.rows * self.cols * fl.empty(0, dtype=dtype).element_size()
        with fl.no_grad():
            self.variants(case, "GB/s", lambda ms: size / ms / 1e6, {"eager": f, "compile": fl.compile(f)}, make_inputs)

    def matrices(self, dtype, count, vectors=0, grad=False):
        def make():
            return tuple(self.randn(self.rows, self.cols, dtype=dtype, grad=grad) for _ in range(count)) + \
                tuple(self.randn(self.cols, dtype=dtype, grad=grad) for _ in range(vectors))
        return make

    def case_pointwise(self):
        for dtype in (fl.float32, fl.bfloat16):
            self.bandwidth(f"pointwise_{short(dtype)}", pointwise, self.matrices(dtype, 2, 1), 3, dtype)

    def case_rows(self):
        for dtype in (fl.float32, fl.bfloat16):
            for name, f, inputs, passes in (("softmax", softmax, (1, 0), 2), ("layernorm", layernorm, (1, 2), 2),
                                            ("rmsnorm", rmsnorm, (1, 1), 2), ("block_tail", block_tail, (2, 2), 3),
                                            ("colsum", colsum, (1, 0), 1)):
                self.bandwidth(f"{name}_{short(dtype)}", f, self.matrices(dtype, *inputs), passes, dtype)

    def case_train_kernels(self):
        """Forward and backward of memory-bound pieces, the sum of both passes timed."""
        for dtype in (fl.float32, fl.bfloat16):
            g = self.randn(self.rows, self.cols, dtype=dtype)
            for name, f, inputs in (("layernorm_train", layernorm, (1, 2)), ("block_tail_train", block_tail, (2, 2)),
                                    ("softmax_train", softmax, (1, 0))):
                self.train_kernel(f"{name}_{short(dtype)}", f, self.matrices(dtype, *inputs, grad=True), g)
        rows, classes = (16, 128) if self.small else (8192, 50304)
        target = self.randint(classes, (rows,))
        self.train_kernel("cross_entropy_train_bfloat16", lambda z: F.cross_entropy(z, target),
                          lambda: (self.randn(rows, classes, dtype=fl.bfloat16, grad=True),), None)

    def train_kernel(self, case, f, make_inputs, g):
        def step_of(h):
            def step(*args):
                for a in args:
                    a.grad = None
                h(*args).backward(g)
            return step
        self.variants(case, "ms", lambda ms: ms, {"eager": step_of(f), "compile": step_of(fl.compile(f)),
                                                  "compile, forward and backward in one": fl.compile(step_of(f))},
                      make_inputs)

    # ---- perceptrons -------------------------------------------------------------------------------------------------
    def case_mlp_infer(self):
        for name, batch, dim in (("mlp_lab131", 128, 2048), ("mlp_small", 16, 1024)):
            dim = 64 if self.small else dim
            for dtype in (fl.float32, fl.bfloat16):
                case = f"{name}_{short(dtype)}"
                m, x = deep_mlp(dim).to(self.device).to(dtype), self.randn(batch, dim, dtype=dtype)
                with fl.no_grad():
                    self.per_call(case, "eager", "us/call", lambda: m, lambda f: f(x))
                    for mode in MODES:
                        self.per_call(case, mode, "us/call", lambda: fl.compile(m, mode=mode), lambda f: f(x))

    def per_call(self, case, variant, unit, make, call, calls=300):
        try:
            f = make()
            cold = self.time.seconds(lambda: call(f))
            emit(case, variant, unit, self.time.wall_us(lambda: call(f), calls), first_call_s=round(cold, 2))
        except Exception as error:
            skipped(case, variant, error)

    def case_mlp_train(self):
        for dtype in (fl.float32, fl.bfloat16):
            for batch in (128, 8192):
                self.mlp_train(dtype, 8 if self.small else batch, batch)

    def mlp_train(self, dtype, rows, batch):
        case, dim = f"mlp_train_b{batch}_{short(dtype)}", 64 if self.small else 2048
        x, y = self.randn(rows, dim), self.randint(10, (rows,))

        def make(whole=None, mode=None):
            m = deep_mlp(dim).to(self.device)
            opt = fl.optim.AdamW(m.parameters(), lr=1e-3, fused=True)
            forward = fl.compile(m, mode=mode) if mode else m

            def step():
                opt.zero_grad(set_to_none=True)
                with autocast(dtype, self.device):
                    loss = F.cross_entropy(forward(x), y)
                loss.backward()
                opt.step()
                return loss
            return fl.compile(step, mode=whole) if whole else step
        run = lambda f: f()  # noqa: E731
        self.per_call(case, "eager", "us/step", make, run, 100)
        for mode in MODES:
            self.per_call(case, mode, "us/step", lambda: make(mode=mode), run, 100)
            self.per_call(case, f"{mode}, whole step", "us/step", lambda: make(whole=mode), run, 100)

    # ---- a GPT-2 small training step ---------------------------------------------------------------------------------
    def case_gpt2(self):
        for batch in (4, 16):
            for variant in ("eager", "default", "reduce-overhead", "default, whole step", "reduce-overhead, whole step"):
                try:
                    self.gpt2(batch, variant)
                except Exception as error:
                    skipped(f"gpt2_124M_train_b{batch}", variant, error)

    def gpt2(self, batch, variant):
        size = dict(V=256, T=16, d=32, h=2, L=2) if self.small else dict(V=50304, T=1024, d=768, h=12, L=12)
        x, y = (self.randint(size["V"] - 47, (batch, size["T"])) for _ in range(2))
        if self.time.on_gpu:
            fl.cuda.empty_cache()
            fl.cuda.reset_peak_memory_stats()
        m = GPT(**size).to(self.device)
        opt = fl.optim.AdamW(m.parameters(), lr=3e-4, fused=True)
        mode = variant.split(",")[0]
        whole = "whole" in variant
        forward = m if variant == "eager" or whole else fl.compile(m, mode=mode)

        def step():
            opt.zero_grad(set_to_none=True)
            with autocast(fl.bfloat16, self.device):
                loss = forward(x, y)
            loss.backward()
            opt.step()
            return loss
        run = fl.compile(step, mode=mode) if whole else step
        fl.set_float32_matmul_precision("high")
        try:
            cold = self.time.seconds(run)
            us = self.time.wall_us(run, 20)
        finally:
            fl.set_float32_matmul_precision("highest")
        peak = fl.cuda.max_memory_allocated() >> 20 if self.time.on_gpu else 0
        emit(f"gpt2_124M_train_b{batch}", variant, "tokens/s", batch * size["T"] / us * 1e6, ms_step=round(us / 1e3, 3),
             first_step_s=round(cold, 2), peak_MiB=peak)

    def case_attention(self):
        for B, H, T, D in ((8, 12, 1024, 64), (4, 16, 4096, 128)):
            case = f"attention_causal_T{T}_D{D}"
            if self.small:
                B, H, T, D = 1, 2, 16, 8
            flops = 4 * B * H * T * T * D / 2

            def make(grad=False, sizes=(B, H, T, D)):
                return tuple(self.randn(*sizes, dtype=fl.bfloat16, grad=grad) for _ in range(3))

            def forward(q, k, v):
                return F.scaled_dot_product_attention(q, k, v, is_causal=True)
            g = self.randn(B, H, T, D, dtype=fl.bfloat16)

            def step(q, k, v):
                q.grad = k.grad = v.grad = None
                forward(q, k, v).backward(g)
            self.variants(case, "TFLOP/s", lambda ms: flops / ms / 1e9,
                          {"sdpa_fwd": forward, "sdpa_fwd compile": fl.compile(forward)}, make)
            self.variants(case, "TFLOP/s", lambda ms: 3.5 * flops / ms / 1e9,
                          {"sdpa_fwd_bwd": step, "sdpa_fwd_bwd compile": fl.compile(step)}, lambda: make(True))

    # ---- overheads ---------------------------------------------------------------------------------------------------
    def case_overhead(self):
        x, y = self.randn(16), self.randn(16)

        def host(case, variant, unit, make):
            try:
                f = make()
                f()
                emit(case, variant, unit, self.time.host_us(f))
            except Exception as error:
                skipped(case, variant, error)

        def compiled(**options):
            f = fl.compile(lambda a, b: fl.sin(a) + b, **options)
            return lambda: f(x, y)
        with fl.no_grad():
            host("overhead_eager_add", "eager", "us/op", lambda: lambda: x + y)
            host("overhead_compiled_call", "default", "us/call", compiled)
            host("overhead_compiled_call", "pure", "us/call", lambda: compiled(pure=True))
            host("overhead_compiled_call", "reduce-overhead", "us/call", lambda: compiled(mode="reduce-overhead"))
            host("overhead_alloc_free", "caching", "us/pair", lambda: lambda: fl.empty(1024, device=self.device))

    def case_compile_time(self):
        """First call of a fresh function, caches empty; the process has compiled something before."""
        n = 64 if self.small else 1024
        x, w = self.randn(n, n), self.randn(n)
        fl.compile(lambda a: a + 1)(x)

        def first(case, variant, make):
            try:
                emit(case, variant, "s", self.time.first_call_s(make))
            except Exception as error:
                skipped(case, variant, error)

        def applied(f, *args):
            c = fl.compile(f)
            return lambda: c(*args)
        first("compile_pointwise", "default", lambda: applied(lambda a: F.gelu(a) * 2 + a.sin(), x))
        first("compile_layernorm", "default", lambda: applied(lambda a, b, c: layernorm(a, b, c), x, w, w))

        def train():
            m = fl.compile(deep_mlp(32 if self.small else 512).to(self.device))
            z = self.randn(64, 32 if self.small else 512)
            return lambda: m(z).sum().backward()
        first("compile_mlp_train", "default", train)

        def batches(dynamic):
            c = fl.compile(lambda a: F.gelu(a) * 2 + a.sin().sum(-1, keepdim=True), dynamic=dynamic, recompile_limit=64)
            zs = [self.randn(size, n) for size in range(33, 53)]
            return lambda: [c(z) for z in zs]
        first("compile_20_batch_sizes", "automatic dynamic", lambda: batches(None))
        first("compile_20_batch_sizes", "static", lambda: batches(False))


# ---- the functions that are measured ---------------------------------------------------------------------------------
def pointwise(x, r, b):
    return F.gelu(x * 1.5 + b, approximate="tanh") * fl.sigmoid(r) + r


def softmax(x):
    return fl.softmax(x * 0.125, -1)


def layernorm(x, w, b):
    return F.layer_norm(x, (x.shape[-1],), w, b)


def rmsnorm(x, w):
    return x * fl.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * w


def block_tail(x, r, w, b):
    return F.layer_norm(F.dropout(F.gelu(x, approximate="tanh"), 0.1) + r, (x.shape[-1],), w, b)


def colsum(x):
    return (x * x).sum(0)


def deep_mlp(dim):
    return nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim), nn.GELU(),
                         nn.Linear(dim, 10))


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.ln1, self.ln2 = h, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.h, C // self.h).transpose(1, 2) for t in self.qkv(self.ln1(x)).split(C, 2))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(B, T, C))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, V, T, d, h, L):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, d), nn.Embedding(T, d)
        self.blocks, self.ln = nn.Sequential(*[Block(d, h) for _ in range(L)]), nn.LayerNorm(d)
        self.head = nn.Linear(d, V, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, x, y):
        z = self.ln(self.blocks(self.tok(x) + self.pos(fl.arange(x.shape[1], device=x.device))))
        return F.cross_entropy(self.head(z).flatten(0, 1), y.flatten())


def main():
    cases = [name[5:] for name in vars(Bench) if name.startswith("case_")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--small", action="store_true", help="tiny shapes and few calls, to see that it runs")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(cases)}; all by default")
    arguments = parser.parse_args()
    for name in arguments.cases:
        if name not in cases:
            parser.error(f"unknown case {name}; there are {', '.join(cases)}")
    if arguments.device == "cuda" and not fl.cuda.is_available():
        parser.error("no CUDA device here; --device cpu --small shows that the benchmark runs")
    device = fl.cuda.get_device_name() if arguments.device == "cuda" else "cpu"
    print(json.dumps({"fuselet": fl.__version__, "device": device}), flush=True)
    bench = Bench(arguments.device, arguments.small)
    for name in arguments.cases or cases:
        start = time.perf_counter()
        fl.manual_seed(0)
        try:
            getattr(bench, f"case_{name}")()
        except Exception as error:  # a case that fails must not hide the others
            skipped(name, "", error)
        print(json.dumps({"case": name, "took_s": round(time.perf_counter() - start, 1)}), flush=True)


if __name__ == "__main__":
    main()
