"""Training that goes wrong silently: the dtype of optimizer state, the order of decay and update, the weights of accumulated
gradients. Eagerly and as a compiled step."""

import math

import pytest

import fuselet as fl
from fuselet import nn, optim
from fuselet.nn import functional as F

MODES = {"eager": lambda f: f, "compiled": lambda f: fl.compile(f, numerics="exact")}
every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
STEPS = 257  # bfloat16 has 256 and 258


class Resumable:
    """A bfloat16 weight with float32 moments, noise, clipping and a schedule."""

    def __init__(self, mode):
        self.weight = nn.Parameter(fl.tensor([1.0, -2.0, 0.5], dtype=fl.bfloat16))
        self.optimizer = optim.AdamW([self.weight], lr=1e-2, state_dtype=fl.float32)
        self.schedule = optim.lr_scheduler.StepLR(self.optimizer, 100, 0.5)
        self.weight.grad = fl.zeros_like(self.weight)
        self.step = mode(self.one_step)

    def one_step(self, target):
        self.optimizer.zero_grad()
        ((F.dropout(self.weight, 0.25) - target) ** 2).sum().backward()
        nn.utils.clip_grad_norm_([self.weight], 1.0)
        self.optimizer.step()

    def train(self, first, last):
        for i in range(first, last):
            self.step(fl.tensor([math.sin(i), math.cos(i), 0.1], dtype=fl.bfloat16))
            self.schedule.step()

    def state(self):
        return {"weight": self.weight.detach().clone(), "optimizer": self.optimizer.state_dict(),
                "schedule": self.schedule.state_dict(), "rng": fl.get_rng_state()}

    def load(self, state):
        self.weight.data.copy_(state["weight"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        fl.set_rng_state(state["rng"])


def assert_same_state(a, b):
    assert a["step"] == b["step"] and set(a) == set(b) == {"step", "exp_avg", "exp_avg_sq"}
    for name in ("exp_avg", "exp_avg_sq"):
        assert a[name].dtype is b[name].dtype is fl.float32 and a[name].device == b[name].device == fl.get_default_device()
        assert fl.equal(a[name], b[name]) and not a[name]._shares_memory(b[name])


@every_mode
def test_training_resumed_from_a_file_is_training_uninterrupted(mode, tmp_path):
    fl.manual_seed(3)
    whole = Resumable(mode)
    whole.train(0, STEPS)
    fl.save(whole.state(), tmp_path / "half.pt")
    half = {k: v.clone() if isinstance(v, fl.Tensor) else v for k, v in whole.optimizer.state_dict()["state"][0].items()}
    assert half["step"] == STEPS
    whole.train(STEPS, 2 * STEPS)

    resumed = Resumable(mode)
    resumed.load(fl.load(tmp_path / "half.pt"))
    assert_same_state(resumed.optimizer.state_dict()["state"][0], half)
    resumed.train(STEPS, 2 * STEPS)
    assert fl.equal(whole.weight, resumed.weight) and resumed.optimizer.param_groups[0]["lr"] == 1e-2 / 2 ** 5
    assert_same_state(resumed.optimizer.state_dict()["state"][0], whole.optimizer.state_dict()["state"][0])
    assert whole.optimizer.state_dict()["state"][0]["step"] == 2 * STEPS


# The values: decay before the update, and decay as a part of the gradient; each after gradients of 0.5 and -0.25.
DECAYS = {"AdamW": (optim.AdamW, [0.89, 0.8544663]), "Adam": (optim.Adam, [0.9, 0.8544414])}


@every_mode
@pytest.mark.parametrize("kind", DECAYS)
@pytest.mark.parametrize("options", [{}, {"foreach": True}, {"fused": True}, {"state_dtype": fl.float64}],
                         ids=["plain", "foreach", "fused", "float64 state"])
def test_the_order_of_decay_and_update(mode, kind, options):
    make, want = DECAYS[kind]
    p = fl.tensor([1.0], requires_grad=True)
    opt = make([p], lr=0.1, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.1, **options)

    def step(slope):
        opt.zero_grad()
        (p * slope).sum().backward()
        opt.step()

    step, got = mode(step), []
    for slope in (0.5, -0.25):
        step(fl.tensor(slope))
        got.append(p.item())
    assert got == pytest.approx(want, abs=1e-6)


@every_mode
def test_micro_batches_weigh_what_they_hold(mode):
    """Three tokens of loss w and one of 5 w: their mean is 2 w; the mean of the two means would be 3 w."""
    def accumulate(w, losses, tokens):
        loss = (w * losses).sum() / tokens
        loss.backward()
        return loss

    f = mode(accumulate)
    for _ in range(2):
        w = fl.ones(1, requires_grad=True)
        parts = [f(w, fl.tensor(t), 4).item() for t in ([1.0, 1.0, 1.0], [5.0])]
        assert sum(parts) == 2 and w.grad.tolist() == [2]
        w = fl.ones(1, requires_grad=True)
        assert f(w, fl.tensor([1.0, 1.0, 1.0, 5.0]), 4).item() == 2 and w.grad.tolist() == [2]


@every_mode
def test_micro_batches_of_a_masked_loss(mode):
    """Sums over the targets that count, divided by their number in the whole batch."""
    def accumulate(w, x, target, count):
        (F.cross_entropy(x @ w, target, reduction="sum") / count).backward()

    x, target = fl.tensor([[1.0, 0.5], [0.0, 1.0], [2.0, -1.0], [1.0, 1.0]]), fl.tensor([0, -100, 1, 1])
    f, (whole, parts) = mode(accumulate), (fl.zeros(2, 2, requires_grad=True) for _ in range(2))
    F.cross_entropy(x @ whole, target).backward()
    for rows in (slice(0, 3), slice(3, 4)):
        f(parts, x[rows], target[rows], 3)
    # Equal logits: each row that counts adds x (1/2 - [its class]) / 3.
    for grad in (whole.grad, parts.grad):
        assert grad.flatten().tolist() == pytest.approx([1 / 3, -1 / 3, -1 / 12, 1 / 12])


LAYERS = {
    "bilinear": (lambda: nn.Bilinear(3, 3, 2), lambda layer, x: layer(x, x), (4, 3)),
    "conv1d": (lambda: nn.Conv1d(2, 4, 3, padding=1, groups=2), None, (2, 2, 5)),
    "conv3d": (lambda: nn.Conv3d(1, 2, 2), None, (1, 1, 3, 3, 3)),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(2, 2, 2, stride=2), None, (1, 2, 3, 3)),
    "batch_norm": (lambda: nn.BatchNorm2d(2), None, (3, 2, 2, 2)),
    "group_norm": (lambda: nn.GroupNorm(2, 4), None, (2, 4, 3)),
    "instance_norm": (lambda: nn.InstanceNorm2d(2, affine=True), None, (2, 2, 3, 3)),
    "rms_norm": (lambda: nn.RMSNorm(5), None, (3, 5)),
    "prelu": (lambda: nn.PReLU(3), None, (4, 3)),
    "lstm": (lambda: nn.LSTM(3, 2), lambda layer, x: layer(x)[0], (3, 2, 3)),
    "gru": (lambda: nn.GRU(3, 2), lambda layer, x: layer(x)[0], (3, 2, 3)),
    "attention": (lambda: nn.MultiheadAttention(4, 2), lambda layer, x: layer(x, x, x)[0], (3, 2, 4)),
    "encoder": (lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), None, (3, 2, 4)),
}


def run_layers(layers, inputs):
    """The sum of the squares of what all layers give."""
    total = 0.0
    for name, layer in layers.items():
        call = LAYERS[name][1] or (lambda layer, x: layer(x))
        total = total + call(layer, inputs[name]).square().sum()
    return total


@pytest.mark.parametrize("mode, names", [("eager", list(LAYERS)), ("compiled", ["conv1d", "batch_norm", "rms_norm", "prelu", "gru"])],
                         ids=MODES)
def test_two_backwards_add_up_to_twice_one(mode, names):
    fl.manual_seed(1)
    layers = nn.ModuleDict({name: LAYERS[name][0]() for name in names})
    inputs = {name: fl.randn(LAYERS[name][2], requires_grad=True) for name in names}
    f, leaves = MODES[mode](run_layers), [*layers.parameters(), *inputs.values()]
    f(layers, inputs).backward()
    once = [p.grad.clone() for p in leaves]
    f(layers, inputs).backward()
    labels = [*(name for name, _ in layers.named_parameters()), *inputs]
    wrong = [name for name, p, g in zip(labels, leaves, once, strict=True) if not fl.equal(p.grad, g * 2)]
    assert not wrong and sum((g != 0).any().item() for g in once) >= len(once) - 1
