"""The cost of calling operators from Python, one JSON object a line.

usage: bench_python.py [CASE…]; without cases, all of them. Each value is the best of several repeats, in microseconds a call.
"""

import json
import sys
import timeit

import fuselet as fl

REPEATS, CALLS = 25, 4000


def cases():
    x, y = fl.ones(16), fl.ones(16)
    p = fl.ones(16, requires_grad=True)
    return {
        "python_add_16": {"operator": lambda: x + y, "function": lambda: fl.add(x, y), "method": lambda: x.add(y),
                          "recorded": lambda: p + y, "in_place": lambda: x.add_(y)},
        "python_view_16": {"view": lambda: x.view(4, 4), "select": lambda: x[0]},
    }


def measure(f):
    for _ in range(200):
        f()
    empty = min(timeit.repeat(lambda: None, number=CALLS, repeat=REPEATS))
    return max(0.0, min(timeit.repeat(f, number=CALLS, repeat=REPEATS)) - empty) / CALLS * 1e6


def main(chosen):
    for case, variants in cases().items():
        if chosen and case not in chosen:
            continue
        for variant, f in variants.items():
            print(json.dumps({"case": case, "variant": variant, "unit": "us", "value": round(measure(f), 4)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
