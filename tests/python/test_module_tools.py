"""Hooks, states and conversions of modules; reparametrisation; initial values."""

import copy
import math
import pickle

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn


def scaled(value):
    layer = nn.Linear(1, 1, bias=False)
    nn.init.constant_(layer.weight, value)
    return layer


def test_forward_hooks_with_keywords_order_and_errors():
    class Add(nn.Module):
        def forward(self, x, *, y=0.0, fail=False):
            if fail:
                raise ValueError("as asked")
            return x + y

    m, seen = Add(), []
    m.register_forward_pre_hook(lambda m, args, kwargs: (args, {**kwargs, "y": 5.0}) if "y" in kwargs else None, with_kwargs=True)
    m.register_forward_hook(lambda m, args, kwargs, out: out * 2, with_kwargs=True)
    m.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    m.register_forward_hook(lambda m, args, out: out + 100, prepend=True)
    assert m(1.0, y=0.0) == (6 + 100) * 2 and seen == [212]
    with pytest.raises(ValueError):
        m(1.0, fail=True)
    assert seen == [212, None]


def test_full_backward_hooks():
    layer, seen = scaled(3.0), []
    x = fl.tensor([[2.0]], requires_grad=True)
    layer.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 10,))
    handle = layer.register_full_backward_hook(lambda m, gin, gout: seen.append((gin[0].item(), gout[0].item())) or (gin[0] + 1,))
    layer(x * 1).sum().backward()
    assert seen == [(30, 10)] and x.grad.item() == 31 and layer.weight.grad.item() == 20
    handle.remove()
    x.grad = None
    layer(x * 1).sum().backward()
    assert x.grad.item() == 30 and len(seen) == 1
    other, at = scaled(2.0), []
    other.register_full_backward_hook(lambda m, gin, gout: at.append((gin, gout[0].item())))
    other(fl.ones(1, 1)).sum().backward()
    assert at == [((None,), 1)] and other.weight.grad.item() == 1


def test_state_of_tied_weights_extra_state_and_prefixes():
    class Counting(nn.Linear):
        count = 0

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    model = nn.Sequential(Counting(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    model[0].count = 4
    state = model.state_dict(prefix="net.")
    assert list(state) == ["net.0.weight", "net.0.bias", "net.0._extra_state", "net.1.weight", "net.1.bias"]
    assert [n for n, _ in model.named_parameters(remove_duplicate=False)] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    other = nn.Sequential(Counting(2, 2), nn.Linear(2, 2))
    report = other.load_state_dict({k[4:]: v for k, v in state.items()})
    assert other[0].count == 4 and repr(report) == "<All keys matched successfully>"
    assert fl.equal(other[1].weight, model[0].weight)
    with pytest.raises(RuntimeError, match="missing: 0.weight.*unexpected: net.0.weight"):
        other.load_state_dict(state)


def test_hooks_of_states():
    model, seen = nn.Sequential(nn.Linear(1, 1)), []

    def rename(module, state, prefix, *rest):
        for name in list(state):
            state[name.replace("old.", "")] = state.pop(name)

    model.register_load_state_dict_pre_hook(rename)
    model.register_load_state_dict_post_hook(lambda m, keys: seen.append(keys.missing_keys))
    model.load_state_dict({"old.0.weight": fl.tensor([[7.0]])}, strict=False)
    assert model[0].weight.item() == 7 and seen == [["0.bias"]]
    model.register_state_dict_post_hook(lambda m, state, prefix, _: state.pop("0.bias"))
    assert list(model.state_dict()) == ["0.weight"]


def test_loading_casts_or_assigns():
    layer = nn.Linear(2, 1, bias=False).double()
    layer.load_state_dict({"weight": fl.tensor([[1.0, 2.0]])})
    assert layer.weight.dtype is fl.float64 and layer.weight.tolist() == [[1, 2]]
    given, p = fl.tensor([[3.0, 4.0]]), layer.weight
    layer.load_state_dict({"weight": given}, assign=True)
    assert layer.weight is p and p.dtype is fl.float32 and p._shares_memory(given)


def test_places_by_name():
    model = nn.Sequential(nn.Sequential(nn.Linear(1, 1)), nn.BatchNorm1d(1))
    assert model.get_buffer("1.running_mean") is model[1].running_mean
    model.set_submodule("0.0", nn.ReLU())
    assert isinstance(model[0][0], nn.ReLU)
    for get in (lambda: model.get_submodule("0.5"), lambda: model.get_parameter("0.weight"), lambda: model.get_buffer("0.x")):
        with pytest.raises(AttributeError, match="has no"):
            get()


def test_containers_like_lists_and_dicts():
    l = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    l.insert(1, nn.Sigmoid())
    assert [type(m).__name__ for m in l] == ["ReLU", "Sigmoid", "Tanh"] and list(l._modules) == ["0", "1", "2"]
    del l[0]
    assert isinstance(l.pop(), nn.Tanh) and len(l) == 1 and len(l + l) == 2
    l[0] = nn.ReLU()
    s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    assert list(s[1:]._modules) == ["1", "2"] and len(s.append(nn.ReLU())) == 4 and len(s.extend([nn.ReLU()])) == 5
    d = nn.ParameterDict({"a": fl.ones(1), "b": nn.Parameter(fl.zeros(2))})
    assert list(d.state_dict()) == ["a", "b"] and "a" in d and d["b"].requires_grad and len(list(d.parameters())) == 2
    p = nn.ParameterList([fl.ones(1), fl.ones(2)])
    p[1] = fl.ones(3)
    assert [t.numel() for t in p] == [1, 3]
    m = nn.ModuleDict({"a": nn.ReLU()})
    m.update({"b": nn.Tanh()})
    assert isinstance(m.pop("a"), nn.ReLU) and list(m) == ["b"]


def test_copies_and_pickles():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    model.compile()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert all(fl.equal(a, b) and a is not b for a, b in zip(model.parameters(), other.parameters()))
        assert isinstance(other[0].weight, nn.Parameter) and other[0].weight.requires_grad


def test_a_module_compiles_in_place():
    model, x = nn.Sequential(nn.Linear(3, 3), nn.ReLU()), fl.randn(2, 3)
    want = model(x)
    model.compile(numerics="exact")
    assert fl.equal(model(x), want) and fl.equal(model(x), want)


@pytest.mark.parametrize("wrap,names", [
    (nn.utils.weight_norm, ["bias", "weight_g", "weight_v"]),
    (nn.utils.parametrizations.weight_norm, ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"])])
def test_weight_norm(wrap, names):
    """weight = g v / |v|: with g doubled, outputs double; the gradient of v is orthogonal to v."""
    fl.manual_seed(0)
    layer, x = nn.Linear(3, 2), fl.randn(4, 3)
    want = layer(x)
    layer = wrap(layer)
    assert sorted(layer.state_dict()) == names and fl.allclose(layer(x), want, atol=1e-6)
    g, v = layer.get_parameter(names[1]), layer.get_parameter(names[2])
    assert g.shape == (2, 1)
    layer(x).square().sum().backward()
    np.testing.assert_allclose((v.grad * v).sum(1).detach().numpy(), [0, 0], atol=1e-5)
    with fl.no_grad():
        g.mul_(2)
    assert fl.allclose(layer(x) - layer.bias, (want - layer.bias) * 2, atol=1e-5)


def test_removing_weight_norm():
    layer, x = nn.utils.weight_norm(nn.Linear(3, 2)), fl.randn(1, 3)
    want = layer(x)
    nn.utils.remove_weight_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight"] and fl.allclose(layer(x), want)
    other = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    want = other(x)
    nn.utils.parametrize.remove_parametrizations(other, "weight")
    assert type(other) is nn.Linear and sorted(other.state_dict()) == ["bias", "weight"] and fl.allclose(other(x), want)


def test_parametrizations():
    class Symmetric(nn.Module):
        def forward(self, x):
            upper = fl.triu(x)
            return upper + fl.triu(x, 1).transpose(0, 1)

    layer = nn.Linear(3, 3)
    nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    assert fl.equal(layer.weight, layer.weight.t()) and nn.utils.parametrize.is_parametrized(layer)
    layer(fl.ones(1, 3)).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None


def test_vectors_and_clipping():
    layer = nn.Linear(2, 2)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    nn.utils.vector_to_parameters(vector * 0 + fl.arange(6.0), layer.parameters())
    assert layer.weight.tolist() == [[0, 1], [2, 3]] and layer.bias.tolist() == [4, 5]
    with pytest.raises(ValueError, match="5 elements"):
        nn.utils.vector_to_parameters(fl.zeros(5), layer.parameters())
    grads = [fl.tensor([3.0]), fl.tensor([4.0])]
    total = nn.utils.get_total_norm(grads)
    assert total.item() == pytest.approx(5)
    layer.bias.grad = fl.tensor([3.0, 4.0])
    nn.utils.clip_grads_with_norm_([layer.bias], 1.0, total)
    assert layer.bias.grad.tolist() == pytest.approx([0.6, 0.8], rel=1e-5)


# ---- initial values
def test_truncated_normal():
    fl.manual_seed(0)
    x = nn.init.trunc_normal_(fl.empty(20000), mean=1.0, std=2.0, a=0.0, b=4.0)
    assert 0 <= x.min().item() and x.max().item() <= 4
    # Mean of a normal (1, 2) truncated to [0, 4], from the density and distribution at -0.5 and 1.5.
    pdf, cdf = lambda z: math.exp(-z * z / 2) / math.sqrt(2 * math.pi), lambda z: 0.5 * (1 + math.erf(z / math.sqrt(2)))
    z = cdf(1.5) - cdf(-0.5)
    mean = 1 + 2 * (pdf(-0.5) - pdf(1.5)) / z
    variance = 4 * (1 + (-0.5 * pdf(-0.5) - 1.5 * pdf(1.5)) / z - ((pdf(-0.5) - pdf(1.5)) / z) ** 2)
    assert x.mean().item() == pytest.approx(mean, abs=0.03) and x.var().item() == pytest.approx(variance, rel=0.05)
    wide = nn.init.trunc_normal_(fl.empty(20000), std=0.02)
    assert wide.std().item() == pytest.approx(0.02, rel=0.03)


def test_orthogonal():
    for shape, by_rows in (((3, 5), True), ((5, 3), False), ((2, 2, 3), True)):
        w = nn.init.orthogonal_(fl.empty(*shape), gain=2.0).reshape(shape[0], -1).numpy()
        product = w @ w.T if by_rows else w.T @ w
        np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)


def test_simple_fills_and_gains():
    assert nn.init.eye_(fl.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    x = fl.randn(1, 4, 5)
    w = nn.init.dirac_(fl.empty(4, 2, 3), groups=2)
    assert [w[i].tolist() for i in (1, 3)] == [[[0, 0, 0], [0, 1, 0]]] * 2 and x.shape == (1, 4, 5)
    s = nn.init.sparse_(fl.empty(10, 6), 0.3)
    assert ((s == 0).sum(0) == 3).all().item()
    assert nn.init.calculate_gain("selu") == 0.75 and nn.init.calculate_gain("leaky_relu", 0.2) == math.sqrt(2 / 1.04)
    with pytest.raises(ValueError, match="gelu"):
        nn.init.calculate_gain("gelu")
    fl.manual_seed(0)
    w = nn.init.kaiming_normal_(fl.empty(50, 400), mode="fan_out", nonlinearity="relu")
    assert w.std().item() == pytest.approx(math.sqrt(2 / 50), rel=0.03)
    w = nn.init.xavier_normal_(fl.empty(100, 300), gain=3.0)
    assert w.std().item() == pytest.approx(3 * math.sqrt(2 / 400), rel=0.03)


@pytest.mark.parametrize("register", [lambda m, n: m.register_buffer(n, fl.ones(1)), lambda m, n: m.register_module(n, nn.ReLU()),
                                      lambda m, n: m.register_parameter(n, nn.Parameter(fl.ones(1)))])
def test_a_name_that_something_else_has_is_refused(register):
    m = nn.Module()
    m.plain, m.weight, m.inner = 3, nn.Parameter(fl.ones(1)), nn.ReLU()
    m.register_buffer("mean", fl.ones(1))
    refused = []
    for name in ("plain", "weight", "inner", "mean", "forward"):
        try:
            register(m, name)
        except KeyError as error:
            assert f"another attribute '{name}'" in str(error)
            refused.append(name)
    assert len(refused) == 4 and {"plain", "forward"} < set(refused)


def test_a_buffer_that_is_registered_again_is_saved_as_told():
    m = nn.Module()
    m.register_buffer("mean", fl.ones(1), persistent=False)
    assert list(m.state_dict()) == []
    m.register_buffer("mean", fl.ones(2))
    assert list(m.state_dict()) == ["mean"]


@pytest.mark.parametrize("order", [0.5, 3, 1, 2, math.inf])
def test_clipping_by_a_norm_of_any_order(order):
    p, q = nn.Parameter(fl.ones(2)), nn.Parameter(fl.ones(1))
    p.grad, q.grad = fl.tensor([3.0, 0.0]), fl.tensor([-4.0])
    norm = 4.0 if order == math.inf else (3.0 ** order + 4.0 ** order) ** (1 / order)
    assert nn.utils.clip_grad_norm_([p, q], 2.0, norm_type=order).item() == pytest.approx(norm)
    assert p.grad.tolist() == pytest.approx([3 * 2 / norm, 0]) and q.grad.tolist() == pytest.approx([-4 * 2 / norm])


@pytest.mark.parametrize("order", [0.5, 3, 1, 2, math.inf])
@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan, 3e38])
def test_gradients_whose_norm_is_not_finite_stay_if_that_is_an_error(order, bad):
    """Two times 3e38 is beyond float32 in every norm but the largest element's."""
    def made():
        p, q = nn.Parameter(fl.ones(2)), nn.Parameter(fl.ones(1))
        p.grad, q.grad = fl.tensor([bad, 1.0]), fl.tensor([bad])
        return p, q

    p, q = made()
    if bad == 3e38 and order == math.inf:
        assert nn.utils.clip_grad_norm_([p, q], 1.0, norm_type=order, error_if_nonfinite=True).item() == pytest.approx(3e38)
        assert p.grad.tolist() == pytest.approx([1, 0]) and q.grad.tolist() == pytest.approx([1])
        return
    for clip in (lambda: nn.utils.clip_grad_norm_([p, q], 1.0, norm_type=order, error_if_nonfinite=True),
                 lambda: nn.utils.get_total_norm([p.grad, q.grad], order, error_if_nonfinite=True)):
        with pytest.raises(RuntimeError, match="the total norm is (inf|nan)"):
            clip()
        np.testing.assert_array_equal(p.grad.numpy(), np.float32([bad, 1]))
        np.testing.assert_array_equal(q.grad.numpy(), np.float32([bad]))
    assert not math.isfinite(nn.utils.clip_grad_norm_(made(), 1.0, norm_type=order).item())


@pytest.mark.parametrize("order", [0.5, 3, 1, 2, math.inf])
@pytest.mark.parametrize("strict", [False, True])
def test_clipping_gradients_of_two_dtypes(order, strict):
    p, q = nn.Parameter(fl.ones(2)), nn.Parameter(fl.ones(1, dtype=fl.float64))
    p.grad, q.grad = fl.tensor([3.0, 0.0]), fl.tensor([-4.0], dtype=fl.float64)
    norm = 4.0 if order == math.inf else (3.0 ** order + 4.0 ** order) ** (1 / order)
    assert nn.utils.get_total_norm([p.grad, q.grad], order).item() == pytest.approx(norm)
    assert nn.utils.clip_grad_norm_([p, q], 2.0, norm_type=order, error_if_nonfinite=strict).item() == pytest.approx(norm)
    assert p.grad.tolist() == pytest.approx([3 * 2 / norm, 0]) and q.grad.tolist() == pytest.approx([-4 * 2 / norm])


@pytest.mark.parametrize("order", [0.5, 3, 1, 2, math.inf])
def test_a_negative_norm_is_refused(order):
    p = nn.Parameter(fl.ones(2))
    p.grad = fl.tensor([3.0, 4.0])
    with pytest.raises(RuntimeError, match="max_norm.*-1"):
        nn.utils.clip_grad_norm_([p], -1.0, norm_type=order)
    assert p.grad.tolist() == [3, 4]


@pytest.mark.parametrize("order", [3, 1, 2, math.inf])
@pytest.mark.parametrize("strict", [False, True])
def test_a_norm_beyond_16_bits_is_finite(order, strict):
    p = nn.Parameter(fl.ones(4, dtype=fl.float16))
    p.grad = fl.full((4,), 6e4, dtype=fl.float16)
    norm = 6e4 * 4.0 ** (1 / order)
    assert nn.utils.get_total_norm([p.grad], order, error_if_nonfinite=strict).item() == pytest.approx(norm)
    assert nn.utils.clip_grad_norm_([p], 1.0, norm_type=order, error_if_nonfinite=strict).item() == pytest.approx(norm)
    assert p.grad.tolist() == pytest.approx([4.0 ** (-1 / order)] * 4, rel=2e-3)


@pytest.mark.parametrize("package", [nn, fl.optim])
def test_a_star_import_brings_every_class(package):
    classes = [name for name, value in vars(package).items() if isinstance(value, type) and not name.startswith("_")]
    assert set(classes) <= set(package.__all__) and len(set(package.__all__)) == len(package.__all__)
    assert all(hasattr(package, name) for name in package.__all__)
