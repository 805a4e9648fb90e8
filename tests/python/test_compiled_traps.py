"""Values that are easy to get wrong, in compiled functions: one program holds all of them, so that they are fused with each
other; gradients are taken inside it, or later by the tape. test_numeric_traps has the operators alone."""

import math

import numpy as np
import pytest

import fuselet as fl
from fuselet.nn import functional as F

inf, nan = math.inf, math.nan
# A few units in the last place; gradients are products of several rounded factors.
TOLERANCE = {fl.float32: 2e-6, fl.float16: 4e-3, fl.bfloat16: 3e-2}
LOG2, LOG3 = math.log(2), math.log(3)


class Ints(list):
    """An argument of int64, which has no gradient."""


def far_from_zero():
    """layer_norm's values and gradients for 2^20 + (0, 1, 2, 3), whose variance is 1.25, and the weights 1, 2, 3, 5."""
    g, r = np.array([1.0, 2.0, 3.0, 5.0]), 1 / math.sqrt(1.25 + 1e-5)
    hat = (np.arange(4) - 1.5) * r
    return hat.tolist(), (r * (g - g.mean() - hat * (g * hat).mean())).tolist()


NORMED, NORMED_SLOPE = far_from_zero()
LONG = [nan if i in (3, 17, 18) else float(i % 7 - 3) for i in range(19)]  # NaN among whole vectors and in the rest
ROWS = [[0.0, 0.0], [3.0, 4.0]]
OUTSIDE = [nan, inf, -inf, -1.9]
CLAMPED = [-2.0, 0.5, 2.0]


def of_long(f):
    return [nan if math.isnan(v) else f(v) for v in LONG]


def bound(kind, value, t):
    """A bound of t as a number, a 0-d tensor or a tensor of t's shape."""
    return {"number": value, "scalar": fl.tensor(value, dtype=t.dtype), "tensor": fl.full_like(t, value)}[kind]


def put(x, i):
    return fl.zeros_like(x).index_put_((i,), fl.tensor(0.5, dtype=x.dtype), accumulate=True)


def add_one_at(x, i):
    y = x.clone()
    y[i] += 1
    return y


# Name: function, arguments, value, gradients of the weighted sum (None: not asked for), weights.
TRAPS = {
    "softmax of masked rows": (lambda x: fl.softmax(x, -1), [[[0.0, LOG3], [-inf, -inf], [nan, -inf]]],
                               [[0.25, 0.75], [nan, nan], [nan, nan]], None, 1),
    "safe softmax keeps NaN": (lambda x: F.safe_softmax(x, -1), [[[0.0, LOG3], [-inf, -inf], [nan, -inf]]],
                               [[0.25, 0.75], [0, 0], [nan, nan]], None, 1),
    "safe softmax": (lambda x: F.safe_softmax(x, -1), [[[0.0, LOG3], [-inf, -inf]]], [[0.25, 0.75], [0, 0]],
                     [[[-0.1875, 0.1875], [0, 0]]], [1.0, 2.0]),
    "logsumexp": (lambda x: fl.logsumexp(x, 1), [[[1.0, 2.0], [-inf, -inf]]], [2.313261687518223, -inf],
                  [[[0.26894142137, 0.73105857863], [0, 0]]], 1),
    "logsumexp of one row": (lambda x: fl.logsumexp(x, 1), [[[1.0, 2.0], [-inf, -inf]]], [2.313261687518223, -inf],
                             [[[0.26894142137, 0.73105857863], [0, 0]]], [1.0, 0.0]),
    "logsumexp of infinity": (lambda x: fl.logsumexp(x, 1), [[[1.0, inf], [1.0, nan]]], [inf, nan], None, 1),
    "float32: layer_norm": (lambda x: F.layer_norm(x, (4,), eps=1e-5), [[2.0 ** 20 + i for i in range(4)]], NORMED, [NORMED_SLOPE],
                            [1.0, 2.0, 3.0, 5.0]),
    "float32: variance": (lambda x: x.var(correction=0), [[2.0 ** 20 + i for i in range(4)]], 1.25, None, 1),
    "sum of 8192 ones": (lambda x: x.sum(), [[1.0] * 8192], 8192, None, 1),
    "column sums of ones": (lambda x: x.sum(0), [[[1.0, 2.0]] * 4096], [4096, 8192], None, 1),
    "sum over a peak": (lambda x: x.sum(0), [[4e4, 4e4, -4e4, -4e4]], 0, [[1, 1, 1, 1]], 1),
    "mean of 70000": (lambda x: x.mean(), [[1.0] * 70000], 1, None, 1),
    "row means": (lambda x: x.mean(1), [[[3.0] * 40000]], [3], None, 1),
    "norm over a peak": (lambda x: fl.norm(x), [[300.0, 400.0]], 500, [[0.6, 0.8]], 1),
    "softmax of many": (lambda x: x.softmax(0).double().sum(), [[0.0] * 16384], 1, None, 1),
    "norm 2": (lambda x: fl.norm(x, 2, dim=1), [ROWS], [0, 5], [[[0, 0], [0.6, 0.8]]], 1),
    "norm 1": (lambda x: fl.norm(x, 1, dim=1), [ROWS], [0, 7], [[[0, 0], [1, 1]]], 1),
    "norm inf": (lambda x: fl.norm(x, inf, dim=1), [ROWS], [0, 4], [[[0, 0], [0, 1]]], 1),
    "normalize": (lambda x: F.normalize(x, dim=1)[1], [ROWS], [0.6, 0.8], [[[0, 0], [0.032, -0.024]]], 1),
    "pow 0": (lambda x: x ** 0, [[0.0, 3.0]], [1, 1], [[0, 0]], 1),
    "pow 1": (lambda x: x ** 1, [[0.0, 3.0]], [0, 3], [[1, 1]], 1),
    "pow 2": (lambda x: x ** 2, [[0.0, 3.0]], [0, 9], [[0, 6]], 1),
    "pow of a 0-d tensor": (lambda x, n: x ** n, [[0.0, 3.0], Ints([2])], [0, 9], [[0, 6], None], 1),
    "exponents": (lambda x, n: x ** n, [[0.0, 2.0], [1.0, 1.0]], [0, 2], [[1, 1], [0, 2 * LOG2]], 1),
    "maximum": (fl.maximum, [[1.0, 2.0], [1.0, 5.0]], [1, 5], [[0.5, 0], [0.5, 1]], 1),
    "minimum": (fl.minimum, [[1.0, 2.0], [1.0, 5.0]], [1, 2], [[0.5, 1], [0.5, 0]], 1),
    "amax": (lambda x: x.amax(), [[1.0, 3.0, 3.0]], 3, [[0, 0.5, 0.5]], 1),
    "amin": (lambda x: x.amin(), [[3.0, 1.0, 1.0]], 1, [[0, 0.5, 0.5]], 1),
    "max with its index": (lambda x: x.max(0).values, [[1.0, 3.0, 3.0]], 3, [[0, 1, 0]], 1),
    "relu at 0": (F.relu, [[0.0, -0.0, 1.0]], [0, 0, 1], [[0, 0, 1]], 1),
    **{f"clamp by {low} and {high}":
       (lambda x, low=low, high=high: x.clamp(bound(low, -1.0, x), bound(high, 1.0, x)), [[-1.0, *CLAMPED, nan]],
        [-1, -1, 0.5, 1, nan], [[1, 0, 1, 0, 0]], [1.0, 1.0, 1.0, 1.0, 0.0])
       for low, high in (("number", "number"), ("number", "tensor"), ("tensor", "scalar"), ("tensor", "tensor"))},
    "clamp's bounds": (lambda x, low, high: x.clamp(low, high), [CLAMPED, [-1.0] * 3, [1.0] * 3], [-1, 0.5, 1],
                       [[0, 1, 0], [1, 0, 0], [0, 0, 1]], 1),
    "inverted bounds": (lambda x: x.clamp(min=2, max=1), [[0.0]], [1], None, 1),
    "a bound of NaN": (lambda x, low: x.clamp(min=low), [[0.0], [nan]], [nan], None, 1),
    "cross_entropy": (lambda z, t: F.cross_entropy(z, t, label_smoothing=0.2), [[[LOG2, 0.0], [5.0, -5.0]], Ints([0, -100])],
                      0.8 * math.log(1.5) + 0.1 * (math.log(1.5) + LOG3), [[[-0.7 / 3, 0.7 / 3], [0, 0]], None], 1),
    "cross_entropy of ignored rows": (lambda z, t: F.cross_entropy(z, t, reduction="sum", label_smoothing=0.1),
                                      [[[LOG2, 0.0], [5.0, -5.0]], Ints([-100, -100])], 0, [[[0, 0], [0, 0]], None], 1),
    "mean of ignored rows": (F.cross_entropy, [[[LOG2, 0.0]], Ints([-100])], nan, None, 1),
    "embedding": (lambda i, w: F.embedding(i, w, padding_idx=0), [Ints([3, 3, 0, 2, 0]), [[7.0], [1.0], [2.0], [3.0]]],
                  [[3], [3], [7], [2], [7]], [None, [[0], [0], [1], [2]]], 1),
    "embedding of padding": (lambda i, w: F.embedding(i, w, padding_idx=-2), [Ints([0] * 5000), [[1.0, 1.0], [2.0, 2.0]]],
                             [[1, 1]] * 5000, [None, [[0, 0], [0, 0]]], 1),
    "repeated indices": (lambda v, i: v[i], [[10.0, 20.0], Ints([0, 0, 1])], [10, 10, 20], [[2, 1], None], 1),
    "many repeated indices": (lambda v, i: v[i].sum() * 0, [[10.0, 20.0], Ints([0] * 4096)], 0, [[0, 0], None], 1),
    "index_put_ that adds": (put, [[0.0] * 4, Ints([1, 1, 3])], [0, 1, 0, 0.5], None, 1),
    "adding at repeated indices": (add_one_at, [[0.0] * 3, Ints([0, 0])], [1, 0, 0], [[1, 1, 1], None], 1),
    "broadcast": (lambda b, c: b + c + fl.zeros(2, 3, dtype=b.dtype), [[0.0] * 3, [[0.0], [0.0]]], [[0] * 3] * 2,
                  [[2, 2, 2], [[3], [3]]], 1),
    "casts to int32": (lambda x: x.to(fl.int32), [OUTSIDE], [0, 2 ** 31 - 1, -2 ** 31, -1], None, 1),
    "casts to uint8": (lambda x: x.to(fl.uint8), [[*OUTSIDE, 300.0]], [0, 255, 0, 0, 255], None, 1),
    "casts of constants": (lambda x: fl.stack([fl.full((), v).to(fl.int32) for v in (*OUTSIDE, 3e9)]) + (x * 0).int(), [[0.0]],
                           [0, 2 ** 31 - 1, -2 ** 31, -1, 2 ** 31 - 1], None, 1),
    "float32: a product with the identity": (lambda x: x @ fl.eye(4), [(np.eye(4) * (1 + 2 ** -12)).tolist()],
                                             (np.eye(4) * (1 + 2 ** -12)).tolist(), None, 1),
    "relu of NaN": (F.relu, [LONG], of_long(lambda v: max(v, 0)), None, 1),
    "maximum with NaN": (lambda x: fl.maximum(x, fl.ones_like(x)), [LONG], of_long(lambda v: max(v, 1)), None, 1),
    "maximum with NaN second": (lambda x: fl.maximum(fl.ones_like(x), x), [LONG], of_long(lambda v: max(v, 1)), None, 1),
    "minimum with NaN": (lambda x: fl.minimum(x, fl.ones_like(x)), [LONG], of_long(lambda v: min(v, 1)), None, 1),
    "relu6 of NaN": (F.relu6, [LONG], of_long(lambda v: max(v, 0)), None, 1),
    "amax with NaN": (lambda x: x.amax(), [LONG], nan, None, 1),
    "amax of rows with NaN": (lambda x: x.amax(1), [[LONG, [float(i) for i in range(19)]]], [nan, 18], None, 1),
    # 0.3 of float32 times 1e10 rounds; its unrounded product is 119 away, and exp(119) overflows.
    "float32: softmax of rounded products": (lambda x: (x * 1e10).softmax(-1), [[[0.3, 0.1]]], [[1, 0]], None, 1),
    "float32: a cast down and up": (lambda x: x.to(fl.bfloat16).float(), [[1.001, 257.0, 259.0]], [1, 256, 260], None, 1),
    "elements equal to the largest": (lambda x: ((s := x / 3) == s.amax(-1, keepdim=True)).sum(-1), [[[1.0, 2.0, 7.0]]], [1], None, 1),
}
# Compiled in float16 are those of its largest number alone; bfloat16 stands for the rest of what 16 bits do.
OVERFLOWS = {"sum of 8192 ones", "sum over a peak", "mean of 70000", "row means", "norm over a peak", "casts to int32", "relu of NaN"}


def arguments(name, dtype):
    _, values, _, gradients, _ = TRAPS[name]
    made = [fl.tensor(v) if isinstance(v, Ints) else fl.tensor(v, dtype=dtype) for v in values]
    for i, t in enumerate(made):
        if gradients is not None and gradients[i] is not None:
            t.requires_grad_()
    return made


def names_for(dtype):
    if dtype is fl.float16:
        return [name for name in TRAPS if name in OVERFLOWS]
    return [name for name in TRAPS if dtype is fl.float32 or not name.startswith("float32:")]


def loss_of(name, out):
    return (out * fl.tensor(TRAPS[name][4], dtype=out.dtype)).sum()


def inside(given):
    """Every value, and the gradients of those that have some, all asked for in the function."""
    results = {}
    for name, made in given.items():
        out = TRAPS[name][0](*made)
        asked = [t for t in made if t.requires_grad]
        results[name] = out, fl.autograd.grad(loss_of(name, out), asked) if asked else ()
    return results


def values_and_loss(given):
    out = {name: TRAPS[name][0](*made) for name, made in given.items()}
    return out, sum(loss_of(name, out[name]).double() for name in given if TRAPS[name][3] is not None)


def results(mode, dtype):
    given = {name: arguments(name, dtype) for name in names_for(dtype)}
    if mode != "later":
        f = fl.compile(inside) if mode == "inside" else inside
        f(given)
        return f(given)  # by a compiled function: what it has kept
    f = fl.compile(values_and_loss)
    for _ in range(2):
        out, loss = f(given)
    loss.backward()
    return {name: (out[name], [t.grad for t in made if t.requires_grad]) for name, made in given.items()}


MODES = [("eager", fl.float32), ("inside", fl.float32), ("later", fl.bfloat16), ("inside", fl.float16)]


@pytest.mark.parametrize("mode, dtype", MODES, ids=[f"{mode}-{dtype.name}" for mode, dtype in MODES])
def test_values_and_gradients(mode, dtype):
    wrong = []
    for name, (out, got) in results(mode, dtype).items():
        wanted = [g for g in TRAPS[name][3] or () if g is not None]
        for what, t, want in [("value", out, TRAPS[name][2]), *(("gradient", g, w) for g, w in zip(got, wanted, strict=True))]:
            t, tolerance = t.detach().double().cpu().numpy(), TOLERANCE[dtype]
            if t.shape != np.shape(want) or not np.allclose(t, want, rtol=tolerance, atol=tolerance, equal_nan=True):
                wrong.append(f"{name}: {what} {t.tolist()}, not {want}"[:300])
    assert not wrong, "\n".join(wrong)


# ---- what has no value of a floating dtype to compare
BOTH = pytest.mark.parametrize("mode", [lambda f: f, fl.compile], ids=["eager", "compiled"])


@BOTH
def test_integer_reductions_widen(mode):
    def f(narrow, big):
        return [narrow.cumsum(0)[-1], narrow.sum(), big.sum(), big.sum(dtype=fl.int32), narrow[:40].prod()]

    f = mode(f)
    for _ in range(2):
        got = f(fl.full((200,), 2, dtype=fl.uint8), fl.tensor([2 ** 31 - 1] * 2, dtype=fl.int32))
        assert [t.item() for t in got] == [400, 400, 2 ** 32 - 2, -2, 2 ** 40]
        assert [t.dtype for t in got] == [fl.int64, fl.int64, fl.int64, fl.int32, fl.int64]


@BOTH
def test_nothing_to_reduce(mode):
    def f(e, a, b):
        return e.sum(), e.prod(), e.mean(), e.sum(0), *e.max(1), e * 2 + 1, a @ b

    f = mode(f)
    for _ in range(2):
        e, a, b = (fl.zeros(*size, requires_grad=True) for size in ((0, 4), (2, 0), (0, 3)))
        total, product, mean, columns, largest, at, scaled, zeros = f(e, a, b)
        assert total.item() == 0 and product.item() == 1 and math.isnan(mean.item()) and columns.tolist() == [0] * 4
        assert largest.shape == at.shape == (0,) and scaled.shape == (0, 4) and zeros.tolist() == [[0] * 3] * 2
        (total + product + mean + columns.sum() + largest.sum() + scaled.sum() + zeros.sum()).backward()
        assert e.grad.shape == (0, 4) and a.grad.shape == (2, 0) and b.grad.shape == (0, 3)
    g = mode(lambda e: e.max())
    with pytest.raises(RuntimeError, match=r"max.*\[0, 4\]"):
        g(fl.zeros(0, 4))


@BOTH
def test_losses_of_other_shapes_are_refused(mode):
    f = mode(F.mse_loss)
    with pytest.raises(RuntimeError, match=r"\[2, 1\].*\[2\]"):
        f(fl.tensor([[1.0], [2.0]], requires_grad=True), fl.tensor([1.0, 2.0]))
    assert f(fl.tensor([1.0, 2.0]), fl.tensor([1.0, 2.0])).item() == 0


@BOTH
def test_targets_out_of_range_are_refused(mode):
    f = mode(lambda z, t: F.cross_entropy(z, t, label_smoothing=0.2))
    z = fl.zeros(2, 2)
    for wrong in (2, -1):
        with pytest.raises(IndexError, match="cross_entropy"):
            f(z, fl.tensor([0, wrong])).item()  # item() waits for a device, which tells then
    assert f(z, fl.tensor([0, -100])).item() == pytest.approx(LOG2)


@BOTH
def test_writes_through_expanded_views(mode):
    def write_all(b):
        e = b.expand(4)
        e += 1

    def write_one(x):
        y = x.expand(4, 3)
        y[2, 1] = 7.0
        return y

    b, f = fl.ones(1), mode(write_all)
    with pytest.raises(RuntimeError, match="share one memory cell"):
        f(b)
    assert b.tolist() == [1] and b._version == 0
    f = mode(write_one)
    for _ in range(2):
        x = fl.arange(3.0)
        assert f(x).tolist() == [[0, 7, 2]] * 4 and x.tolist() == [0, 7, 2]


@BOTH
def test_adding_in_place_at_repeated_indices(mode):
    def f(x, y, i):
        x[i] += 1
        y.index_put_((i,), fl.tensor(0.5), accumulate=True)

    f = mode(f)
    for _ in range(2):
        x, y = fl.zeros(4), fl.zeros(4)
        f(x, y, fl.tensor([1, 1, 3]))
        assert x.tolist() == [0, 1, 0, 1] and y.tolist() == [0, 1, 0, 0.5]


@BOTH
def test_a_leaf_that_requires_grad_is_not_written(mode):
    w, f = fl.ones(2, requires_grad=True), mode(lambda t: t.add_(1))
    with pytest.raises(RuntimeError, match="leaf.*no_grad"):
        f(w)
    assert w.tolist() == [1, 1] and w._version == 0
    with fl.no_grad():
        f(w)
    assert w.tolist() == [2, 2] and w.requires_grad and w.is_leaf


@BOTH
def test_a_write_to_what_backward_reads_is_noticed(mode):
    clear = mode(lambda t: t.zero_())
    for alias in (lambda y: y.detach(), lambda y: y.detach().view(2, 1)[1]):
        x = fl.zeros(2, requires_grad=True)
        y = x.sigmoid()
        y.sum().backward(retain_graph=True)
        assert x.grad.tolist() == [0.25, 0.25]
        clear(alias(y))
        with pytest.raises(RuntimeError, match="sigmoid.*version 0.*version 1"):
            y.sum().backward()
        assert x.grad.tolist() == [0.25, 0.25]


@BOTH
def test_gradients_are_memory_of_their_own(mode):
    f = mode(lambda x, y: (x + y).sum())
    x, y = fl.ones(3, requires_grad=True), fl.ones(3, requires_grad=True)
    f(x, y).backward()
    x.grad.add_(100)
    assert y.grad.tolist() == [1, 1, 1] and x.grad.tolist() == [101] * 3
    f(x, y).backward()
    assert y.grad.tolist() == [2, 2, 2] and x.grad.tolist() == [102] * 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_powers_by_a_number_of_python(dtype):
    """A float is an input of compiled code: what the gradient calculates with it is where the tensor is."""
    def powers(x, n):
        y = (x ** n).sum() + x.norm(3)
        y.backward()
        return x.grad
    compiled = fl.compile(powers)
    for n in (2.5, 3.3):
        x = fl.tensor([1.0, 4.0], dtype=getattr(fl, dtype), requires_grad=True)
        norm = (1 + 4 ** 3) ** (1 / 3)
        want = [n + 1 / norm ** 2, n * 4 ** (n - 1) + 16 / norm ** 2]
        assert compiled(x, n).tolist() == pytest.approx(want, rel=1e-12 if dtype == "float64" else 1e-6)
    assert fl.compiler.stats(compiled).compiles <= 2


def test_gradients_of_views_of_nothing():
    def flat(x, view):
        view(x).sum().backward()
        return x.grad
    for view in (lambda x: x.view(-1), lambda x: x.t().reshape(-1)):
        x = fl.zeros(0, 4, requires_grad=True)
        assert fl.compile(flat)(x, view).shape == (0, 4)
