"""PyTorch's own sample inputs (its op_db) through fuselet: outputs and gradients beside PyTorch's on the CPU, within the
tolerances of torch.testing.assert_close, for every operator that both have.

Needs PyTorch. Prints a line an operator and dtype, and the totals; --out writes one JSON object a line, --table a
Markdown table by operator. Exits with 1 if less than 98 % of the samples agree.

op_db_against_torch.py [--device cpu|cuda] [--dtype float32|float64|both|float16|bfloat16] [--samples N] [--jobs N] [--out F] [--table F] [NAME…]
"""

import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import sys
import warnings

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import fuselet as fl
from torch_values import NoCounterpart, as_array, difference, tensors_of, to_fuselet

# Results that are random or not initialised: shapes and dtypes are compared, values are not.
UNDEFINED_VALUES = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "rand_like", "randn_like",
                    "randn", "randint", "randint_like", "normal", "bernoulli", "multinomial", "uniform", "exponential",
                    "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
                    "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout_with_train", "cauchy", "geometric",
                    "log_normal", "nn.functional.rrelu"}
# Parts of PyTorch that fuselet does not set out to have.
ELSEWHERE = ("fft.", "sparse.", "masked.", "_refs.", "jiterator", "ops.aten", "special.", "torch.ops", "signal.", "polar")


# op_db calls these with the differentiable operand first.
REORDERED = {"where": lambda x, condition, other: fl.where(condition, x, other),
             "einsum": lambda operands, equation: fl.einsum(equation, *operands),
             "zero_": lambda x: x.clone().zero_(),
             "nn.functional.embedding": lambda weight, i, **kw: fl.nn.functional.embedding(i, weight, **kw),
             "nn.functional.embedding_bag": lambda weight, i, *rest, **kw: fl.nn.functional.embedding_bag(i, weight, *rest, **kw),
             # PyTorch's gradient of this loss is that of log_softmax and the loss together.
             "nn.functional.ctc_loss": lambda logs, *rest, **kw: fl.nn.functional.ctc_loss(logs.log_softmax(-1), *rest, **kw)}


def counterpart(name):
    """fuselet's function of that name: a function, or a method of Tensor; None if it has neither."""
    if name in REORDERED:
        return REORDERED[name]
    at = fl
    try:
        for part in name.split("."):
            at = getattr(at, part)
        if callable(at):
            return at
    except (AttributeError, NotImplementedError):
        pass
    method = None if "." in name else getattr(fl.Tensor, name, None)
    return method if callable(method) else None


def outputs_and_gradients(function, args, kwargs, cotangents, grad_of):
    """The tensors of the result, and the gradients of sum(result * cotangent) for every leaf that requires one."""
    out = tensors_of(function(*args, **kwargs))
    leaves = [t for t in tensors_of([args, kwargs]) if t.requires_grad]
    roots = [(o, c) for o, c in zip(out, cotangents(out)) if o.requires_grad]
    if not roots or not leaves:
        return out, None
    return out, grad_of([o for o, _ in roots], leaves, [c for _, c in roots])


def torch_cotangents(out):
    draws = np.random.default_rng(0)
    return [torch.from_numpy(np.asarray(draws.uniform(0.5, 1.5, tuple(o.shape)))).to(o.dtype) if o.is_floating_point()
            else None for o in out]


def doubled(value):
    """The value with every float32 tensor in float64, as a leaf."""
    if isinstance(value, torch.Tensor):
        return value.detach().double().requires_grad_(value.requires_grad) if value.dtype == torch.float32 else value
    if isinstance(value, (list, tuple)):
        return type(value)(doubled(v) for v in value)
    return {k: doubled(v) for k, v in value.items()} if isinstance(value, dict) else value


class Comparison:
    def __init__(self, device, dtype):
        self.device, self.dtype = device, dtype

    def sample(self, op, function, sample):
        """(outcome, reason) of one sample: agree, disagree, refused (fuselet raises), or skipped."""
        try:
            args, kwargs = to_fuselet([sample.input, *sample.args], self.device), to_fuselet(sample.kwargs, self.device)
        except NoCounterpart as e:
            return "skipped", f"takes {e}"
        if sample.kwargs.get("dropout_p") or op.variant_test_name == "partial_views":
            return "skipped", "draws random numbers, or reads around the tensor that it is given"
        want, want_grad = outputs_and_gradients(
            op.op, [sample.input, *sample.args], sample.kwargs, torch_cotangents,
            lambda o, x, c: torch.autograd.grad(o, x, c, allow_unused=True))
        if any(t.dtype.is_complex or t.layout != torch.strided for t in want):
            return "skipped", "gives complex numbers"
        try:
            got, got_grad = outputs_and_gradients(
                function, args, kwargs, lambda out: to_fuselet(torch_cotangents(want), self.device),
                lambda o, x, c: fl.autograd.grad(o, x, c, allow_unused=True))
        except NotImplementedError as e:
            return "refused", str(e).splitlines()[0]
        except Exception as e:  # whatever it is, it is a result of this sample
            return "refused", f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
        outcome, reason = self.compare(op, got, want, got_grad, want_grad)
        if outcome == "disagree" and self.dtype == torch.float32:
            reason += self.errors(op, sample, got + list(got_grad or ()), want + list(want_grad or ()))
        return outcome, reason

    def errors(self, op, sample, got, want):
        """Which of the two float32 results is nearer to PyTorch's in float64."""
        exact, grad = outputs_and_gradients(
            op.op, doubled([sample.input, *sample.args]), doubled(sample.kwargs),
            lambda out: [None if c is None else c.double() for c in torch_cotangents(want)],
            lambda o, x, c: torch.autograd.grad(o, x, c, allow_unused=True))
        ours, theirs = 0.0, 0.0
        for g, w, e in zip(got, want, exact + list(grad or ())):
            if g is not None and w is not None and e is not None and e.is_floating_point() and e.numel():
                ours = max(ours, float(np.abs(as_array(g) - e.detach().numpy()).max()))
                theirs = max(theirs, float((w.detach() - e.detach()).abs().max()))
        return f" (off the float64 result: {ours:.2g}, PyTorch's float32 {theirs:.2g})"

    def compare(self, op, got, want, got_grad, want_grad):
        if len(got) != len(want):
            return "disagree", f"{len(got)} results, want {len(want)}"
        for i, (g, w) in enumerate(zip(got, want)):
            if op.name in UNDEFINED_VALUES:
                same = tuple(g.shape) == tuple(w.shape) and to_fuselet(w.dtype, None) == g.dtype
                problem = None if same else f"{g.dtype} {tuple(g.shape)}, want {w.dtype} {tuple(w.shape)}"
            else:
                problem = difference(g, w, self.dtype)
            if problem:
                return "disagree", f"result {i}: {problem}"
        if op.name in UNDEFINED_VALUES or want_grad is None:
            return "agree", ""
        if got_grad is None:
            return "disagree", "no gradient"
        for i, (g, w) in enumerate(zip(got_grad, want_grad)):
            # None and zeros say the same.
            w = torch.zeros(tuple(g.shape), dtype=self.dtype) if w is None and g is not None else w
            if g is None and w is not None and not bool((w == 0).all()):
                return "disagree", f"gradient {i}: none"
            problem = difference(g, w, self.dtype) if g is not None and w is not None else None
            if problem:
                return "disagree", f"gradient {i}: {problem}"
        return "agree", ""

    def operator(self, op, limit):
        """Counts by outcome, and the samples' reasons by how often."""
        function = counterpart(op.name)
        counts, reasons = collections.Counter(), collections.Counter()
        torch.manual_seed(0)
        samples = op.sample_inputs("cpu", self.dtype, requires_grad=op.supports_autograd)
        for number, sample in enumerate(samples):
            if number == limit:
                break
            try:
                outcome, reason = self.sample(op, function, sample)
            except Exception as e:  # PyTorch's own side
                outcome, reason = "skipped", f"PyTorch: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
            counts[outcome] += 1
            if reason:
                reasons[f"{outcome}: {reason}"[:300]] += 1
        return counts, reasons


def chosen(names):
    """Places in op_db."""
    return [i for i, op in enumerate(op_db)
            if not op.name.startswith(ELSEWHERE) and (not names or op.name in names)]


def rows_of(place, device, dtype_names, limit):
    """One row a dtype; none where fuselet has no such operator."""
    warnings.filterwarnings("ignore")
    op = op_db[place]
    rows = []
    for name in dtype_names if counterpart(op.name) is not None else ():
        dtype = getattr(torch, name)
        if dtype in op.dtypes:
            counts, reasons = Comparison(device, dtype).operator(op, limit)
            rows.append({"op": op.name, "variant": op.variant_test_name, "dtype": name, "device": device,
                         "counts": dict(counts), "reasons": dict(reasons)})
    return rows


def all_rows(places, jobs, *how):
    """The rows of each place, in order, by `jobs` processes."""
    if jobs == 1:
        yield from (rows_of(place, *how) for place in places)
        return
    with concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(rows_of, places, *([x] * len(places) for x in how))


def print_row(row):
    print(f"{row['op']} {row['variant']} {row['dtype']}: {row['counts']}", flush=True)
    for reason, times in collections.Counter(row["reasons"]).most_common(4):
        if not reason.startswith("skipped"):
            print(f"    {times} x {reason}", flush=True)


def write_table(path, rows):
    by_name = collections.defaultdict(collections.Counter)
    reasons = collections.defaultdict(collections.Counter)
    for row in rows:
        by_name[row["op"]].update(row["counts"])
        reasons[row["op"]].update(row["reasons"])
    with open(path, "w") as f:
        f.write("| operator | samples | agree | of them | most frequent miss |\n|---|---|---|---|---|\n")
        for name, counts in sorted(by_name.items()):
            tried = counts["agree"] + counts["disagree"] + counts["refused"]
            misses = [r for r, _ in reasons[name].most_common() if not r.startswith("skipped")]
            miss = misses[0].replace("|", "\\|")[:160] if misses else ""
            share = f"{100 * counts['agree'] / tried:.1f} %" if tried else "none"
            f.write(f"| {name} | {tried} | {counts['agree']} | {share} | {miss} |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="operators by op_db's names; all if left out")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="both", choices=["float32", "float64", "both", "float16", "bfloat16"])
    parser.add_argument("--samples", type=int, default=40, help="at most this many an operator and dtype")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out")
    parser.add_argument("--table")
    parser.add_argument("--quiet", action="store_true", help="lines for operators with misses only")
    options = parser.parse_args()
    dtypes = ["float32", "float64"] if options.dtype == "both" else [options.dtype]
    places = chosen(options.names)
    rows, total = [], collections.Counter()
    absent = {op_db[i].name for i in places if counterpart(op_db[i].name) is None}
    for found in all_rows(places, options.jobs, options.device, dtypes, options.samples):
        for row in found:
            rows.append(row)
            total.update(row["counts"])
            if not options.quiet or {"disagree", "refused"} & row["counts"].keys():
                print_row(row)
    if options.out:
        with open(options.out, "w") as f:
            for row in rows:
                f.write(json.dumps(row) + "\n")
    if options.table:
        write_table(options.table, rows)
    tried = total["agree"] + total["disagree"] + total["refused"]
    share = total["agree"] / tried if tried else 0.0
    print(f"{len({r['op'] for r in rows})} operators of both, {tried} samples, {total['agree']} agree: {100 * share:.2f} %; "
          f"{total['disagree']} disagree, {total['refused']} refused, {total['skipped']} skipped")
    print(f"{len(absent)} operators of op_db are not here: {' '.join(sorted(absent))}")
    return 0 if share >= 0.98 else 1


if __name__ == "__main__":
    sys.exit(main())
