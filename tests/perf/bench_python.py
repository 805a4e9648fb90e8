"""The per-call rows of `./dev bench cpu` as Python sees them; same line format as bench_cpu.cpp."""

import json
import statistics
import sys
import timeit

import fuselet as fl


def line(case, variant, unit, value, **more):
    print(json.dumps({"case": case, "variant": variant, "unit": unit, "value": round(value, 4), **more}), flush=True)


def per_call_us(statement, names, number=100_000, rounds=9):
    times = timeit.repeat(statement, globals=names, number=number, repeat=rounds + 2)[2:]
    return statistics.median(times) / number * 1e6


def add_small():
    names = {"a": fl.rand(16), "b": fl.rand(16), "fl": fl}
    line("add_f32_16", "fuselet_python", "us", per_call_us("a + b", names))
    line("add_f32_16", "fuselet_python_function", "us", per_call_us("fl.add(a, b)", names))


def compiled_small():
    def body(x, y):
        return (x + y) * x

    names = {"a": fl.rand(16), "b": fl.rand(16), "body": body, "again": fl.compile(body), "pure": fl.compile(body, pure=True)}
    with fl.no_grad():
        for variant in ("body", "again", "pure"):
            line("compiled_add_mul_f32_16", f"python_{variant}", "us", per_call_us(f"{variant}(a, b)", names, number=20_000))


def main():
    benches = {"add_small": add_small, "compiled_small": compiled_small}
    for name, run in benches.items():
        if len(sys.argv) == 1 or any(word in name for word in sys.argv[1:]):
            run()


if __name__ == "__main__":
    main()
