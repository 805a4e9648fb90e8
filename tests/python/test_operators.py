"""Operators against NumPy, their arguments, and what wrong use says."""

import math

import numpy as np
import pytest

import fuselet as fl

RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 4)).astype(np.float32)
B = RNG.normal(size=(4,)).astype(np.float32)

UNARY = {"exp": np.exp, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "abs": np.abs, "floor": np.floor, "ceil": np.ceil,
         "round": np.round, "sign": np.sign, "square": np.square, "neg": np.negative}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    t = fl.tensor(A)
    np.testing.assert_allclose(getattr(fl, name)(t).numpy(), UNARY[name](A), rtol=1e-6)
    np.testing.assert_allclose(getattr(t, name)().numpy(), UNARY[name](A), rtol=1e-6)


BINARY = [("+", lambda a, b: a + b), ("-", lambda a, b: a - b), ("*", lambda a, b: a * b), ("/", lambda a, b: a / b),
          ("//", lambda a, b: a // b), ("%", lambda a, b: a % b), ("<", lambda a, b: a < b), (">=", lambda a, b: a >= b)]


@pytest.mark.parametrize("name,f", BINARY)
def test_binary_and_reflected(name, f):
    a, b = fl.tensor(A), fl.tensor(B)
    np.testing.assert_allclose(f(a, b).numpy(), f(A, B), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(f(a, 2).numpy(), f(A, np.float32(2)), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(f(2.0, a).numpy(), f(np.float32(2), A), rtol=1e-5, atol=1e-4)


def test_power_and_matmul():
    a = fl.tensor(np.abs(A))
    np.testing.assert_allclose((a ** 2).numpy(), A ** 2, rtol=1e-6)
    np.testing.assert_allclose((2 ** a).numpy(), 2 ** np.abs(A), rtol=1e-6)
    np.testing.assert_allclose((fl.tensor(A) @ fl.tensor(B)).numpy(), A @ B, rtol=1e-5)
    np.testing.assert_allclose((fl.tensor(A).T @ fl.tensor(A)).numpy(), A.T @ A, rtol=1e-5)


def test_in_place_operators_keep_identity():
    x = fl.tensor([1.0, 2.0])
    same = x
    x += 1
    x *= 3
    x -= fl.tensor([1.0, 1.0])
    x /= 2
    assert x is same and x.tolist() == [2.5, 4.0] and x._version == 4


def test_integer_division_is_exact():
    big = 2 ** 40 + 1
    assert (fl.tensor([7, -7]) // 2).tolist() == [3, -4]
    assert (fl.tensor([7, -7]) % 3).tolist() == [1, 2]
    assert (fl.tensor([big]) // 1).tolist() == [big]


def test_bool_operators():
    a, b = fl.tensor([True, True, False]), fl.tensor([True, False, False])
    assert (a & b).tolist() == [True, False, False] and (a | b).tolist() == [True, True, False]
    assert (a ^ b).tolist() == [False, True, False] and (~a).tolist() == [False, False, True]
    assert (~fl.tensor([1, -1])).tolist() == [-2, 0] and (~fl.tensor([1], dtype=fl.uint8)).tolist() == [254]
    for f in (lambda x: x & 1, lambda x: ~x, lambda x: x << 1):
        with pytest.raises(RuntimeError, match="expected integers or bools, got float32"):
            f(fl.tensor([1.0]))


@pytest.mark.parametrize("dim", [None, 0, 1, -1, (0, 1)])
def test_reductions(dim):
    t = fl.tensor(A)
    kwargs = {} if dim is None else {"dim": dim}
    np.testing.assert_allclose(t.sum(**kwargs).numpy(), A.sum(axis=dim), rtol=1e-5)
    np.testing.assert_allclose(t.mean(**kwargs).numpy(), A.mean(axis=dim), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(t.amax(**kwargs).numpy(), A.max(axis=dim))
    np.testing.assert_allclose(t.var(**kwargs).numpy(), A.var(axis=dim, ddof=1), rtol=1e-5)
    np.testing.assert_allclose(t.std(**kwargs).numpy(), A.std(axis=dim, ddof=1), rtol=1e-5)
    assert t.sum(dim, keepdim=True).dim() == 2


def test_max_and_min():
    t = fl.tensor([[1.0, 5.0], [7.0, 2.0]])
    assert t.max().item() == 7 and t.min().item() == 1
    values, indices = t.max(1)
    assert values.tolist() == [5, 7] and indices.tolist() == [1, 0]
    assert t.min(dim=0).indices.tolist() == [0, 1]
    assert fl.max(t, fl.tensor(3.0)).tolist() == [[3, 5], [7, 3]]
    with pytest.raises(RuntimeError):
        fl.zeros(0, 4).max()


def test_sort_and_topk():
    t = fl.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]], requires_grad=True)
    assert t.sort().values.tolist() == [[1, 2, 3], [0, 4, 5]] and t.argsort(0).tolist() == [[1, 0, 0], [0, 1, 1]]
    values, indices = t.topk(2)
    assert values.tolist() == [[3, 2], [5, 4]] and indices.tolist() == [[0, 2], [1, 2]]
    values.sum().backward()
    assert t.grad.tolist() == [[1, 0, 1], [0, 1, 1]]


def test_sizes_as_separate_ints_lists_and_size():
    assert fl.zeros(2, 3).shape == fl.zeros([2, 3]).shape == fl.zeros((2, 3)).shape == fl.zeros(fl.Size([2, 3])).shape == (2, 3)
    x = fl.arange(6)
    assert x.view(2, 3).shape == x.view((2, 3)).shape == x.reshape(-1, 3).shape == x.view(size=(2, 3)).shape
    assert fl.zeros(2, 3).permute(1, 0).shape == (3, 2) and fl.ones(1).expand(4).shape == (4,)
    assert fl.rand(2, 2, dtype=fl.float64).dtype is fl.float64 and fl.empty(3).shape == (3,)
    assert fl.zeros(()).shape == () and fl.ones(2, requires_grad=True).requires_grad


def test_splitting_joining_and_the_like():
    x = fl.arange(10)
    assert [p.tolist() for p in x.chunk(3)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [len(p) for p in x.split([3, 7])] == [3, 7]
    assert fl.cat(x.split(4)).tolist() == list(range(10))
    assert fl.stack([x, x]).shape == (2, 10) and len(x.view(2, 5).unbind(1)) == 5
    np.testing.assert_array_equal(fl.tensor(A).repeat(2, 3).numpy(), np.tile(A, (2, 3)))
    np.testing.assert_array_equal(fl.tensor(A).tril(1).numpy(), np.tril(A, 1))
    np.testing.assert_array_equal(fl.tensor(A).triu().numpy(), np.triu(A))
    np.testing.assert_array_equal(fl.tensor(A).flip(1).numpy(), A[:, ::-1])
    np.testing.assert_array_equal(fl.tensor(A).roll(1, 0).numpy(), np.roll(A, 1, 0))


def test_making():
    assert fl.tensor([1, 2]).dtype is fl.int64 and fl.tensor([1, 2.0]).dtype is fl.float32
    assert fl.tensor([True]).dtype is fl.bool and fl.tensor(3.5).shape == ()
    assert fl.tensor([[1, 2], [3, 4]], dtype=fl.float64).tolist() == [[1, 2], [3, 4]]
    assert fl.eye(2).tolist() == [[1, 0], [0, 1]] and fl.arange(3).dtype is fl.int64
    assert fl.linspace(0, 1, 5).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert fl.full((2,), 7).dtype is fl.int64 and fl.zeros_like(fl.ones(2, dtype=fl.float64)).dtype is fl.float64
    assert sorted(fl.randperm(10).tolist()) == list(range(10))
    assert fl.tensor([]).shape == (0,) and fl.tensor([[], []]).shape == (2, 0)
    assert fl.tensor([2 ** 53 + 1]).item() == 2 ** 53 + 1
    with pytest.raises(RuntimeError, match="different lengths"):
        fl.tensor([[1], [2, 3]])
    with pytest.raises(TypeError):
        fl.tensor(["a"])


def test_random_numbers_repeat_and_generators_are_apart():
    fl.manual_seed(3)
    state = fl.get_rng_state()
    a, b = fl.rand(5), fl.randn(5)
    fl.set_rng_state(state)
    assert fl.equal(fl.rand(5), a) and fl.equal(fl.randn(5), b)
    g = fl.Generator().manual_seed(3)
    before = fl.get_rng_state().tolist()
    assert fl.equal(fl.rand(5, generator=g), a)
    assert fl.get_rng_state().tolist() == before


def test_conversions():
    x = fl.tensor([1.7, -1.7])
    assert x.int().tolist() == [1, -1] and x.long().dtype is fl.int64 and x.half().dtype is fl.float16
    assert x.to(fl.float64).dtype is fl.float64 and x.to("cpu") is x and x.float() is x and x.to(x) is x
    assert x.to(dtype=float).dtype is fl.float64 and x.bool().tolist() == [True, True]
    assert fl.tensor([math.nan, math.inf, -math.inf, 3e9, -1.9]).to(fl.int32).tolist() == [0, 2 ** 31 - 1, -2 ** 31, 2 ** 31 - 1, -1]
    assert int(fl.tensor(3)) == 3 and float(fl.tensor(2.5)) == 2.5 and bool(fl.tensor(0.0)) is False
    assert [10, 20, 30][fl.tensor(1)] == 20
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(fl.ones(2))
    if not fl.cuda.is_available():
        with pytest.raises(RuntimeError, match="CUDA is not available"):
            x.to("cuda")


def test_geometry():
    x = fl.zeros(2, 3, 4)
    assert x.size() == (2, 3, 4) and x.size(1) == x.size(-2) == 3 and x.size(dim=0) == 2 and x.ndim == x.dim() == 3
    assert x.stride() == (12, 4, 1) and x.stride(0) == 12 and x.numel() == x.shape.numel() == 24
    y = x[:, 1:]
    assert y.storage_offset() == 4 and not y.is_contiguous() and y.contiguous().is_contiguous()
    assert y.data_ptr() == x.data_ptr() + 16 and x.element_size() == 4
    assert repr(x.shape) == "fuselet.Size([2, 3, 4])" and x.T.shape == (4, 3, 2) and x.mT.shape == (2, 4, 3)


def test_repr():
    assert repr(fl.tensor([1.0, 2.5])) == "tensor([1., 2.5])"
    assert repr(fl.ones(1, requires_grad=True)) == "tensor([1.], requires_grad=True)"
    assert "grad_fn=<mul>" in repr(fl.ones(1, requires_grad=True) * 2)
    assert repr(fl.float32) == "fuselet.float32" and repr(fl.device("cpu")) == "device(type='cpu')"
    assert str(fl.device("cuda:1")) == "cuda:1" and fl.device("cuda", 1).index == 1


def test_wrong_use_names_the_operator_and_what_was_given():
    with pytest.raises(RuntimeError, match=r"add.*\[2\].*\[3\]"):
        fl.ones(2) + fl.ones(3)
    with pytest.raises(RuntimeError, match=r"matmul.*\[2, 3\].*\[2, 3\]"):
        fl.ones(2, 3) @ fl.ones(2, 3)
    with pytest.raises(TypeError, match=r"exp\(\): argument 'self' must be a Tensor, got int"):
        fl.exp(1)
    with pytest.raises(TypeError, match="unknown argument 'dimension'"):
        fl.ones(2).sum(dimension=0)
    with pytest.raises(TypeError, match="too many arguments"):
        fl.ones(2).relu(1)
    with pytest.raises(TypeError, match="missing"):
        fl.gather(fl.ones(2))
    with pytest.raises(IndexError):
        fl.ones(2).sum(3)
    with pytest.raises(TypeError):
        fl.ones(2) + "a"
    with pytest.raises(RuntimeError):
        fl.tensor([1, 2]).add_(0.5)
    with pytest.raises(RuntimeError, match="unknown dtype"):
        fl.dtype("float12")


def test_docstrings_carry_the_signature():
    assert fl.softmax.__doc__.startswith("exp(self - max)") or "softmax" in fl.softmax.__doc__
    assert fl.Tensor.relu.__text_signature__ == "($self)"


def test_default_dtype():
    fl.set_default_dtype(fl.float64)
    try:
        assert fl.zeros(1).dtype is fl.float64 and fl.tensor(1.0).dtype is fl.float64
    finally:
        fl.set_default_dtype(fl.float32)


def test_limits():
    assert fl.finfo(fl.float32).eps == 2.0 ** -23 and fl.finfo(fl.float16).max == 65504 and fl.finfo(fl.bfloat16).tiny == 2.0 ** -126
    assert fl.iinfo(fl.int8).min == -128 and fl.iinfo(fl.uint8).max == 255


def test_numerics_of_the_catalogue():
    """Masked rows, empty tensors, narrow types, zero norms, clamps and casts out of range."""
    inf, nan = math.inf, math.nan
    x = fl.tensor([[0.0, math.log(3)], [-inf, -inf], [nan, -inf]])
    p, s = fl.softmax(x, -1), fl.nn.functional.safe_softmax(x, -1)
    np.testing.assert_allclose(p[0].numpy(), [0.25, 0.75], rtol=1e-6)
    assert bool(fl.isnan(p[1]).all()) and s[1].tolist() == [0, 0] and bool(fl.isnan(s[2]).all())
    x2 = fl.tensor([[0.0, math.log(3)], [-inf, -inf]], requires_grad=True)
    (fl.nn.functional.safe_softmax(x2, -1) * fl.tensor([1.0, 2.0])).sum().backward()
    np.testing.assert_allclose(x2.grad.numpy(), [[-0.1875, 0.1875], [0, 0]], rtol=1e-6)

    x = fl.tensor([[1.0, 2.0], [-inf, -inf]], requires_grad=True)
    y = fl.logsumexp(x, 1)
    y[0].backward(retain_graph=True)
    np.testing.assert_allclose(y.detach().numpy(), [2.3132617, -inf], rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), [[0.26894142, 0.73105858], [0, 0]], rtol=1e-6)
    x.grad = None
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [[0.26894142, 0.73105858], [0, 0]], rtol=1e-6)
    assert fl.logsumexp(fl.tensor([1.0, inf]), 0).item() == inf

    assert fl.ones(8192, dtype=fl.float16).sum().item() == 8192 and fl.ones(8192, dtype=fl.bfloat16).sum().item() == 8192
    assert fl.tensor([4e4, 4e4, -4e4, -4e4], dtype=fl.float16).sum(0).item() == 0
    assert fl.ones(70000, dtype=fl.float16).mean().item() == 1.0
    total = fl.tensor([2 ** 31 - 1, 2 ** 31 - 1], dtype=fl.int32).sum()
    assert total.item() == 4294967294 and total.dtype is fl.int64

    e = fl.zeros(0, 4)
    assert e.sum().item() == 0 and math.isnan(e.mean().item()) and e.sum(0).tolist() == [0] * 4
    assert e.max(1).values.shape == (0,) and (fl.zeros(2, 0) @ fl.zeros(0, 3)).tolist() == [[0] * 3] * 2

    for order, want in ((2, [[0, 0], [0.6, 0.8]]), (1, [[0, 0], [1, 1]])):
        x = fl.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
        fl.norm(x, order, dim=1).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-6)

    assert fl.tensor([0.0]).clamp(min=2, max=1).tolist() == [1]
    assert math.isnan(fl.clamp(fl.tensor(0.0), min=fl.tensor(nan)).item())
    for low in (-1.0, fl.full((3,), -1.0)):
        for high in (1.0, fl.full((3,), 1.0)):
            x = fl.tensor([-2.0, 0.5, 2.0], requires_grad=True)
            x.clamp(low, high).sum().backward()
            assert x.grad.tolist() == [0, 1, 0]


def test_log1p_keeps_what_the_sum_with_one_would_lose():
    values = [1e-10, -1e-9, 1e-7, 3e-4, -0.5, 0.0, 3.0, 1e30]
    x = fl.tensor(values, requires_grad=True)
    y = fl.log1p(x)
    assert y.tolist() == pytest.approx([math.log1p(v) for v in values], rel=2e-7)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([1 / (1 + v) for v in values], rel=2e-7)
    assert fl.log1p(fl.tensor([-1.0, math.inf])).tolist() == [-math.inf, math.inf]
    assert math.isnan(fl.log1p(fl.tensor(math.nan)).item()) and math.isnan(fl.log1p(fl.tensor(-2.0)).item())
    # A confident logit has a small loss, not none.
    loss = fl.nn.functional.binary_cross_entropy_with_logits(fl.tensor([30.0]), fl.tensor([1.0]))
    assert loss.item() == pytest.approx(math.log1p(math.exp(-30)), rel=1e-5)
    assert fl.nn.functional.softplus(fl.tensor([-20.0])).item() == pytest.approx(math.log1p(math.exp(-20)), rel=1e-5)
