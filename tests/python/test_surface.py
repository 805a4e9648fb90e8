"""What the package offers around tensors: formats, dtypes, printing, random state, constructors, saving, pickles."""

import copy
import math
import pickle

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn


@pytest.fixture
def printing():
    from fuselet import printing as module

    before = module._options
    yield
    module._options = before


def test_memory_formats():
    x = fl.arange(24.0).view(1, 2, 3, 4)
    y = x.contiguous(memory_format=fl.channels_last)
    assert y.stride() == (24, 1, 8, 2) and fl.equal(x, y) and y.dim_order() == (0, 2, 3, 1)
    assert y.is_contiguous(memory_format=fl.channels_last) and not y.is_contiguous() and x.is_contiguous()
    assert y.contiguous(memory_format=fl.channels_last) is y and y.contiguous().stride() == (24, 12, 4, 1)
    assert x.to(memory_format=fl.channels_last).stride() == y.stride() and x.to("cpu", memory_format=fl.preserve_format) is x
    z = y.clone(memory_format=fl.contiguous_format)
    assert z.is_contiguous() and not z._shares_memory(y) and y.clone().stride() == y.stride()
    assert x.clone(memory_format=fl.channels_last).stride() == y.stride()
    with pytest.raises(RuntimeError, match="4 dimensions"):
        fl.ones(3).contiguous(memory_format=fl.channels_last)
    conv = nn.Conv2d(2, 3, 3, padding=1)
    assert fl.allclose(conv(y), conv(x), atol=1e-6)


def test_answers_about_tensors():
    x = fl.ones(2, 3)
    assert (x.is_sparse, x.is_quantized, x.is_complex(), x.is_shared(), x.is_cpu) == (False, False, False, False, True)
    assert x.layout is fl.strided and x.nbytes == 24 and x.itemsize == 4 and x.is_signed() and not x.byte().is_signed()
    view = x[1]
    assert view.untyped_storage().data_ptr() == x.data_ptr() and view.storage().nbytes() == 24 and len(view.storage()) == 6
    assert x.is_same_size(fl.zeros(2, 3)) and x.is_set_to(x.view(2, 3)) and not x.is_set_to(x.clone())
    assert x.new(2).shape == (2,) and x.double().new([1]).dtype is fl.float64
    y = x.clone().requires_grad_()
    z = y * 2
    assert not z.retains_grad
    z.retain_grad()
    assert z.retains_grad and round(fl.tensor(2.567), 2) == 2.57 and complex(fl.tensor(2.0)) == 2
    assert fl.tensor([1.0, 4.0]).apply_(math.sqrt).tolist() == [1, 2]
    m = fl.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert m.H.tolist() == [[1, 3], [2, 4]] and m.clone().tril_().tolist() == [[1, 0], [3, 4]] and m.to_dense() is m
    assert m.clone().triu_(1).tolist() == [[0, 2], [0, 0]] and fl.tensor([0.0, 1.0]).bernoulli().tolist() == [0, 1]
    assert fl.tensor([0.0, 2.0]).multinomial(3, True).tolist() == [1, 1, 1]
    assert np.sum(x).item() == 6 and not fl.float32.is_complex
    assert type(x.shape[:1]) is fl.Size and type(x.shape + (1,)) is fl.Size and (1,) + x.shape == (1, 2, 3) and x.shape[-1] == 3


def test_numpy_numbers_do_not_widen():
    x = fl.ones(2)
    for y in (np.float64(2) * x, x * np.float64(2), np.float32(2) + x, x - np.int64(1), np.int32(3) / x):
        assert isinstance(y, fl.Tensor) and y.dtype is fl.float32
    assert (np.float64(3) - x).tolist() == [2, 2] and (x ** np.int64(2)).tolist() == [1, 1]
    assert fl.tensor(np.float32(1.5)).dtype is fl.float32 and fl.tensor([np.int64(1), 2]).dtype is fl.int64
    assert np.asarray(x).dtype == np.float32 and np.array(x, dtype=np.float64).dtype == np.float64


@pytest.mark.parametrize("a,b,want", [
    (fl.ones(2), 1, fl.float32), (fl.ones(2, dtype=fl.int32), 1.5, fl.float32), (fl.ones(2, dtype=fl.int32), 7, fl.int32),
    (fl.ones(2, dtype=fl.int8), fl.ones([], dtype=fl.int64), fl.int8), (fl.ones(2, dtype=fl.float16), fl.ones([], dtype=fl.float64), fl.float16),
    (fl.ones(2, dtype=fl.uint8), fl.ones(2, dtype=fl.int8), fl.int32), (1, 2.0, fl.float32), (1, True, fl.int64)])
def test_result_type(a, b, want):
    got = fl.result_type(a, b)
    # uint8 with int8 has no common type of 16 bits here.
    assert got is want


def test_can_cast_and_limits():
    assert fl.can_cast(fl.int32, fl.float16) and not fl.can_cast(fl.float32, fl.int64) and not fl.can_cast(fl.int8, fl.uint8)
    assert fl.can_cast(fl.bool, fl.uint8) and fl.can_cast(fl.float64, fl.bfloat16) and not fl.can_cast(fl.int8, fl.bool)
    assert fl.pi == math.pi and fl.inf == math.inf and math.isnan(fl.nan) and fl.newaxis is None and fl.e == math.e
    assert fl.ones(3)[:, fl.newaxis].shape == (3, 1)
    assert fl.is_nonzero(fl.tensor([2])) and not fl.is_complex(fl.ones(1)) and fl.typename(fl.ones(1)) == "fuselet.float32"
    assert fl.typename(nn.ReLU()).endswith("nn.activations.ReLU")


def test_default_dtype():
    before = fl.get_default_dtype()
    try:
        fl.set_default_dtype(fl.float64)
        assert fl.ones(1).dtype is fl.tensor([1.0]).dtype is nn.Linear(1, 1).weight.dtype is fl.float64
        assert nn.BatchNorm1d(1).running_mean.dtype is fl.float64 and fl.Tensor([1]).dtype is fl.float64
    finally:
        fl.set_default_dtype(before)


def test_constructors_of_old():
    assert fl.FloatTensor([1, 2]).dtype is fl.float32 and fl.LongTensor([[1]]).dtype is fl.int64 and fl.FloatTensor(2, 3).shape == (2, 3)
    assert fl.ByteTensor([1]).dtype is fl.uint8 and fl.BoolTensor([0, 2]).tolist() == [False, True]
    assert isinstance(fl.ones(1), fl.FloatTensor) and not isinstance(fl.ones(1), fl.LongTensor)
    assert fl.autograd.Variable(fl.ones(1), requires_grad=True).requires_grad


def test_printing_with_options(printing):
    x = fl.tensor([[1.0, -2.5], [100.125, 3.0]])
    fl.set_printoptions(precision=2)
    assert repr(x) == "tensor([[  1.00,  -2.50],\n        [100.12,   3.00]])"
    assert repr(fl.tensor([1.0, 20.0])) == "tensor([ 1., 20.])" and repr(fl.tensor(2.5, requires_grad=True)) == "tensor(2.50, requires_grad=True)"
    assert repr(fl.tensor([1e-6, 1.0], dtype=fl.float64)) == "tensor([1.00e-06, 1.00e+00], dtype=float64)"
    fl.set_printoptions(threshold=5, edgeitems=1, sci_mode=False)
    assert repr(fl.arange(8)) == "tensor([0,  ..., 7])" and "1.00" in repr(fl.tensor([1e-6, 1.0]))
    fl.set_printoptions(profile="default")
    assert repr(fl.tensor([0.5, math.inf, math.nan])) == "tensor([0.5000,    inf,    nan])"
    assert repr(fl.tensor([True, False])) == "tensor([ True, False])" and repr(fl.zeros(0)) == "tensor([], size=[0])"
    fl.set_printoptions(linewidth=20)
    assert repr(fl.arange(6) * 10) == "tensor([ 0, 10, 20,\n        30, 40, 50])"
    with pytest.raises(ValueError, match="profile"):
        fl.set_printoptions(profile="wide")


def test_random_state():
    fl.manual_seed(-1)
    assert fl.initial_seed() == 2 ** 64 - 1
    state = fl.get_rng_state()
    a = fl.rand(3)
    with fl.random.fork_rng():
        fl.manual_seed(5)
        fl.rand(10)
    b = fl.rand(3)
    fl.set_rng_state(state)
    assert fl.equal(fl.rand(3), a) and fl.equal(fl.rand(3), b)
    g = fl.Generator(device="cpu")
    assert g.device == fl.device("cpu") and fl.equal(fl.rand(2, generator=g.manual_seed(1)), fl.rand(2, generator=g.manual_seed(1)))


def test_copies_and_pickles_of_tensors():
    x = fl.tensor([1.0, 2.0], dtype=fl.bfloat16, requires_grad=True)
    (x * x).sum().backward()
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert fl.equal(x, y) and y.dtype is fl.bfloat16 and y.requires_grad and not y._shares_memory(x)
    assert copy.deepcopy(x).grad.tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="leaves"):
        pickle.dumps(x * 2)


class Options:
    def __init__(self, width):
        self.width = width


def test_saving_objects_of_other_classes(tmp_path):
    path = tmp_path / "checkpoint"
    fl.save({"options": Options(3), "weight": fl.ones(2)}, path)
    with pytest.raises(RuntimeError, match="asks for test_surface.Options.*add_safe_globals"):
        fl.load(path)
    with fl.serialization.safe_globals([Options]):
        assert fl.load(path)["options"].width == 3
        assert fl.serialization.get_safe_globals() == [Options]
    with pytest.raises(RuntimeError):
        fl.load(path)
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    fl.save(model, path)
    again = fl.load(path, weights_only=False)
    assert fl.equal(again[0].weight, model[0].weight) and isinstance(again[0].weight, nn.Parameter)


def test_accelerators_and_backends():
    assert fl.accelerator.is_available() == fl.cuda.is_available()
    if not fl.cuda.is_available():
        assert fl.accelerator.current_accelerator() is None and fl.accelerator.device_count() == 0
    assert not fl.backends.mps.is_available() and not fl.npu.is_available() and fl.xpu.device_count() == 0
    with fl.backends.cudnn.flags(benchmark=True):
        assert fl.backends.cudnn.benchmark
    assert not fl.backends.cudnn.benchmark and fl.backends.cudnn.deterministic
    assert not fl.compiler.is_compiling() and fl.compile(lambda x: x + fl.compiler.is_compiling())(fl.zeros(1)).item() == 1
    from fuselet.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        pass
    with pytest.raises(RuntimeError, match="MATH"):
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            pass


def test_assert_close():
    close = fl.testing.assert_close
    close(fl.tensor([1.0]), fl.tensor([1.0 + 1e-6]))
    close({"a": [fl.ones(2), 3]}, {"a": [fl.ones(2), 3]})
    close(fl.tensor([math.nan]), fl.tensor([math.nan]), equal_nan=True)
    for a, b, message in ((fl.tensor([1.0, 2.0]), fl.tensor([1.0, 2.1]), "1 of 2 elements"), (fl.ones(2), fl.ones(3), "shapes"),
                          (fl.ones(2), fl.ones(2).double(), "dtypes"), ([1, 2], [1], "lengths"), ({"a": 1}, {"b": 1}, "keys"),
                          ({"a": fl.ones(1)}, {"a": fl.zeros(1)}, r"\['a'\]"), (fl.tensor([2]), fl.tensor([3]), "1 of 1")):
        with pytest.raises(AssertionError, match=message):
            close(a, b)
    with pytest.raises(ValueError, match="both"):
        close(1.0, 1.0, rtol=1.0)


def test_distributions():
    D = fl.distributions
    fl.manual_seed(0)
    normal = D.Normal(fl.tensor([0.0, 1.0], requires_grad=True), 2.0)
    want = [-(x - m) ** 2 / 8 - math.log(2 * math.sqrt(2 * math.pi)) for x, m in ((1.0, 0.0), (1.0, 1.0))]
    assert normal.log_prob(fl.ones(2)).tolist() == pytest.approx(want) and normal.cdf(fl.tensor([0.0, 1.0])).tolist() == [0.5, 0.5]
    assert normal.entropy().tolist() == pytest.approx([math.log(2) + 0.5 * math.log(2 * math.pi * math.e)] * 2)
    assert normal.rsample((5,)).requires_grad and not normal.sample((5,)).requires_grad and normal.sample((5,)).shape == (5, 2)
    drawn = normal.sample((20000,))
    assert drawn.std(0).tolist() == pytest.approx([2, 2], rel=0.03)
    choice = D.Categorical(fl.tensor([1.0, 3.0, 0.0]))
    assert choice.probs.tolist() == [0.25, 0.75, 0] and choice.log_prob(fl.tensor([0, 1])).exp().tolist() == pytest.approx([0.25, 0.75])
    assert choice.entropy().item() == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)), rel=1e-5)
    draws = choice.sample((8000,))
    assert draws.shape == (8000,) and draws.float().mean().item() == pytest.approx(0.75, abs=0.02) and draws.amax().item() == 1
    logits = fl.randn(4, 3, requires_grad=True)
    batch = D.Categorical(logits=logits)
    assert batch.sample((2,)).shape == (2, 4) and batch.sample().shape == (4,)
    loss = nn.functional.cross_entropy(logits, fl.tensor([0, 1, 2, 0]))
    assert -batch.log_prob(fl.tensor([0, 1, 2, 0])).mean().item() == pytest.approx(loss.item(), rel=1e-5)
    coin = D.Bernoulli(fl.tensor([0.25, 1.0]))
    assert coin.log_prob(fl.tensor([1.0, 1.0])).exp().tolist() == pytest.approx([0.25, 1]) and coin.sample((3,)).shape == (3, 2)
    assert coin.entropy()[0].item() == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)))
    box = D.Uniform(1.0, 3.0)
    assert box.log_prob(fl.tensor([2.0, 5.0])).tolist() == [pytest.approx(-math.log(2)), -math.inf] and box.variance.item() == pytest.approx(1 / 3)
    assert D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 2.0)).item() == pytest.approx(math.log(2) + 2 / 8 - 0.5)
    assert D.kl_divergence(choice, D.Categorical(fl.ones(3))).item() == pytest.approx(0.25 * math.log(0.75) + 0.75 * math.log(2.25), rel=1e-4)
    assert D.kl_divergence(D.Bernoulli(0.25), D.Bernoulli(0.5)).item() == pytest.approx(0.25 * math.log(0.5) + 0.75 * math.log(1.5), rel=1e-4)
    for make in (lambda: D.Normal(0.0, -1.0), lambda: D.Categorical(fl.tensor([-1.0, 2.0])), lambda: D.Bernoulli(2.0), lambda: D.Uniform(1.0, 1.0)):
        with pytest.raises(ValueError):
            make()
