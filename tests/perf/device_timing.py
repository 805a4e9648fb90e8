"""Timing on a device, and the lines that benchmarks print. Times are medians.

Kernels are timed by events of the device around each call, calls given without waiting, so that the host's part is
hidden where kernels take longer than it. Inputs take turns, together larger than the L2 cache, so that every call reads
memory. On the CPU the clock of the wall takes the place of events.
"""

import itertools
import json
import statistics
import time

import fuselet as fl

# Bytes that inputs in turn must pass before one is read again: four times the L2 of an H200.
PAST_THE_L2 = 200 << 20


def emit(case, variant, unit, value, **more):
    print(json.dumps({"case": case, "variant": variant, "unit": unit, "value": round(float(value), 4), **more}), flush=True)


class Timing:
    """device: "cuda" or "cpu". quick: a few calls each, to see that the benchmark runs."""

    def __init__(self, device, quick):
        self.device, self.quick, self.on_gpu = device, quick, device != "cpu"

    def synchronize(self):
        if self.on_gpu:
            fl.cuda.synchronize()

    def seconds(self, call):
        self.synchronize()
        start = time.perf_counter()
        call()
        self.synchronize()
        return time.perf_counter() - start

    def sets_of(self, make):
        """So many sets of inputs, made by make(), as pass the L2 cache."""
        first = make()
        size = sum(t.numel() * t.element_size() for t in first)
        count = 1 if self.quick else min(max(PAST_THE_L2 // max(size, 1) + 1, 1), 64)
        return [first] + [make() for _ in range(count - 1)]

    def ms_of_each(self, functions, sets, milliseconds=200):
        """Median time of each function over the sets of inputs, in ms. The functions run in alternating blocks, so that a
        change of the clock meets all of them."""
        for f in functions:  # compiles, and warms the allocator
            for inputs in sets[:2]:
                f(*inputs)
        once = max(self.seconds(lambda: functions[0](*sets[0])), 1e-6)
        calls = 2 if self.quick else int(min(max(milliseconds / 1e3 / once, 10), 1000))
        blocks = 1 if self.quick else 5
        times = [[] for _ in functions]
        turns = itertools.cycle(sets)
        for _ in range(blocks):
            for f, own in zip(functions, times):
                own += self._times(f, turns, -(-calls // blocks))
        return [statistics.median(own) for own in times]

    def _times(self, f, turns, calls):
        if not self.on_gpu:
            return [self.seconds(lambda: f(*next(turns))) * 1e3 for _ in range(calls)]
        marks = [(fl.cuda.Event(enable_timing=True), fl.cuda.Event(enable_timing=True)) for _ in range(calls)]
        self.synchronize()
        for start, end in marks:
            inputs = next(turns)
            start.record()
            f(*inputs)
            end.record()
        self.synchronize()
        return [start.elapsed_time(end) for start, end in marks]

    def host_us(self, f, calls=2000):
        """Host time of a call when the device is never waited for inside the loop."""
        return self._loop_us(f, 5 if self.quick else calls, 50, wait_inside=False)

    def wall_us(self, f, calls=300):
        """Wall time of a call, device included, calls back to back."""
        return self._loop_us(f, 2 if self.quick else calls, 20, wait_inside=True)

    def _loop_us(self, f, calls, warm, wait_inside):
        for _ in range(2 if self.quick else warm):
            f()
        times = []
        for _ in range(1 if self.quick else 7):
            self.synchronize()
            start = time.perf_counter()
            for _ in range(calls):
                f()
            if wait_inside:
                self.synchronize()
            times.append((time.perf_counter() - start) / calls * 1e6)
            self.synchronize()
        return statistics.median(times)

    def first_call_s(self, make):
        """Seconds of the first call of a fresh function."""
        f = make()
        return self.seconds(f)


def skipped(case, variant, error):
    """Prints why a case has no number: an operator that is not there yet is skipped, anything else is an error."""
    missing = isinstance(error, (AttributeError, NotImplementedError)) or "has no kernel on" in str(error)
    reason = f"{type(error).__name__}: {str(error)[:300]}"
    print(json.dumps({"case": case, "variant": variant, "skipped" if missing else "error": reason}), flush=True)
