"""Every mistake gives an error that names the operator and what was given, and leaves everything as it was."""

import sys

import pytest

import fuselet as fl
from fuselet import nn, optim
from fuselet.nn import functional as F

ones, zeros = fl.ones, fl.zeros


def ints(values):
    return fl.tensor(values, dtype=fl.int64)


# (what is wrong, call, error, pattern)
MISTAKES = [
    ("add", lambda: ones(2) + ones(3), RuntimeError, r"add: shapes \[2\] and \[3\]"),
    ("where", lambda: fl.where(ones(2) > 0, ones(3), ones(2)), RuntimeError, r"where.*\[2\].*\[3\]"),
    ("clamp", lambda: ones(2).clamp(ones(3)), RuntimeError, r"clamp_min.*\[2\].*\[3\]"),
    ("in-place result grows", lambda: ones(1).add_(ones(3)), RuntimeError, r"add_.*\[3\].*\[1\]"),
    ("in-place dtype", lambda: ints([1]).add_(0.5), RuntimeError, "add_.*float32.*int64"),
    ("matmul inner", lambda: ones(2, 3) @ ones(2, 3), RuntimeError, r"matmul.*\[2, 3\] and \[2, 3\].*inner"),
    ("matmul dtype", lambda: ones(2, 2) @ ones(2, 2).double(), RuntimeError, "matmul.*float32 and float64"),
    ("matmul 0-d", lambda: ones(2, 3) @ fl.tensor(1.0), RuntimeError, r"matmul.*\[2, 3\] and \[\]"),
    ("bmm", lambda: fl.bmm(ones(2, 3, 4), ones(3, 4, 5)), RuntimeError, r"bmm.*\[2, 3, 4\] and \[3, 4, 5\]"),
    ("mm", lambda: fl.mm(ones(3), ones(3)), RuntimeError, r"mm.*\[3\] and \[3\]"),
    ("addmm", lambda: fl.addmm(ones(5), ones(2, 3), ones(3, 4)), RuntimeError, r"addmm.*\[2, 4\].*\[5\]"),
    ("dot", lambda: fl.dot(ones(2, 2), ones(2)), RuntimeError, r"dot.*\[2, 2\].*\[2\]"),
    ("linear", lambda: F.linear(ones(2, 3), ones(4, 5)), RuntimeError, r"linear.*\[2, 3\].*3 features.*\[4, 5\]"),
    ("linear bias", lambda: F.linear(ones(2, 3), ones(4, 3), ones(3)), RuntimeError, r"linear: bias.*\[4\], got \[3\]"),
    ("linear dtype", lambda: F.linear(ones(2, 3), ones(4, 3).half()), RuntimeError, "linear.*float32 and float16"),
    ("conv channels", lambda: F.conv2d(ones(1, 3, 5, 5), ones(2, 4, 3, 3)), RuntimeError, "conv2d.*3 channels.*expects 4"),
    ("conv rank", lambda: F.conv2d(ones(5, 5), ones(2, 3, 3, 3)), RuntimeError, r"conv2d.*\(N, C, H, W\).*\[5, 5\]"),
    ("conv window", lambda: F.conv2d(ones(1, 1, 2, 2), ones(1, 1, 3, 3)), RuntimeError, "conv2d: a window of 3.*2 elements"),
    ("conv stride", lambda: F.conv2d(ones(1, 1, 4, 4), ones(1, 1, 3, 3), stride=0), RuntimeError, "conv2d.*positive"),
    ("pool", lambda: F.max_pool2d(ones(3, 3), 2), RuntimeError, r"max_pool2d.*\[3, 3\]"),
    ("softmax dim", lambda: fl.softmax(ones(2), 1), IndexError, "softmax: dimension 1"),
    ("softmax dtype", lambda: fl.softmax(ints([1]), 0), RuntimeError, "softmax.*int64"),
    ("layer_norm", lambda: F.layer_norm(ones(2, 3), (2,)), RuntimeError, r"layer_norm.*\[2, 3\].*\[2\]"),
    ("layer_norm weight", lambda: F.layer_norm(ones(2, 3), (3,), ones(2)), RuntimeError, r"layer_norm: weight.*\[3\], got \[2\]"),
    ("targets", lambda: F.cross_entropy(ones(2, 3), ints([0])), RuntimeError, r"cross_entropy.*\[2, 3\].*\[2\], got \[1\]"),
    ("targets of images", lambda: F.cross_entropy(ones(2, 3, 4), zeros(4, 2, dtype=fl.int64)), RuntimeError,
     r"cross_entropy: logits of shape \[2, 3, 4\] need targets of shape \[2, 4\], got \[4, 2\]"),
    ("target dtype", lambda: F.cross_entropy(ones(2, 3), ones(2)), RuntimeError, r"cross_entropy.*\[2, 3\].*\[2\]"),
    ("target range", lambda: F.cross_entropy(ones(2, 3), ints([0, 3])), IndexError, "target 3 of row 1.*3 classes"),
    ("class weights", lambda: F.cross_entropy(ones(2, 3), ints([0, 1]), ones(2)), RuntimeError, r"weight.*\[3\].*got \[2\]"),
    ("mse", lambda: F.mse_loss(ones(2, 1), ones(2)), RuntimeError, r"mse_loss.*\[2, 1\].*\[2\]"),
    ("nll", lambda: F.nll_loss(ones(2, 3), ints([0])), RuntimeError, r"nll_loss.*\[2, 3\] and \[1\]"),
    ("bce", lambda: F.binary_cross_entropy_with_logits(ones(2), ones(3)), RuntimeError, r"\[2\].*\[3\]"),
    ("gather range", lambda: ones(2, 3).gather(1, ints([[3], [0]])), IndexError, "gather: index 3.*size 3"),
    ("gather dtype", lambda: ones(2, 3).gather(1, ones(2, 1)), RuntimeError, "gather.*integers.*float32"),
    ("gather rank", lambda: ones(2, 3).gather(1, ints([0])), RuntimeError, r"gather.*\[1\].*\[2, 3\]"),
    ("index_select range", lambda: ones(2, 3).index_select(0, ints([2])), IndexError, "index_select: index 2.*size 2"),
    ("indexing range", lambda: ones(2)[ints([-3])], IndexError, "index -3 is out of range"),
    ("embedding range", lambda: F.embedding(ints([5]), ones(5, 2)), IndexError, "embedding: index 5.*size 5"),
    ("padding_idx", lambda: F.embedding(ints([1]), ones(5, 2), padding_idx=-6), IndexError, "embedding: padding_idx -6"),
    ("select range", lambda: ones(2, 3).select(0, 2), IndexError, "select: index 2.*size 2"),
    ("narrow", lambda: ones(2, 3).narrow(0, 1, 2), IndexError, "narrow: entries 1 to 3.*size 2"),
    ("cat", lambda: fl.cat([ones(2, 3), ones(2, 4)]), RuntimeError, r"cat.*\[2, 3\] and \[2, 4\]"),
    ("stack", lambda: fl.stack([ones(2), ones(3)]), RuntimeError, r"stack.*\[2\] and \[3\]"),
    ("stack of nothing", lambda: fl.vstack([]), RuntimeError, "vstack: expected at least one"),
    ("view", lambda: ones(2, 3).view(4), RuntimeError, r"view: shape \[4\].*6"),
    ("view of a transpose", lambda: ones(2, 3).t().view(6), RuntimeError, r"view.*\[3, 2\].*reshape"),
    ("expand", lambda: ones(2, 3).expand(4, 3), RuntimeError, r"expand: dimension 0 of \[2, 3\]"),
    ("permute", lambda: ones(2, 3).permute(0, 0), RuntimeError, "permute: dimension 0 stands twice"),
    ("squeeze dims", lambda: ones(2, 3).squeeze((5,)), IndexError, "squeeze: dimension 5"),
    ("movedim", lambda: ones(2, 3).movedim(5, 0), IndexError, "movedim: dimension 5"),
    ("unflatten", lambda: ones(2, 3).unflatten(5, (1, 2)), IndexError, "unflatten: dimension 5"),
    ("sort dim", lambda: ones(2, 3).sort(2), IndexError, "sort: dimension 2"),
    ("as_strided", lambda: ones(2, 3).as_strided([10], [1]), RuntimeError, "as_strided.*element 10.*6"),
    ("sum dim", lambda: ones(2).sum(3), IndexError, "sum: dimension 3"),
    ("mean dtype", lambda: ints([1]).mean(), RuntimeError, "mean.*int64"),
    ("one_hot range", lambda: F.one_hot(ints([3]), 3), IndexError, "one_hot: class 3.*3 classes"),
    ("one_hot negative", lambda: F.one_hot(ints([-1]), 3), IndexError, "one_hot: class -1"),
    ("one_hot dtype", lambda: F.one_hot(ones(1), 3), RuntimeError, "one_hot.*float32"),
    ("multinomial weights", lambda: fl.multinomial(fl.tensor([-1.0, 1.0]), 1), RuntimeError, "multinomial.*negative"),
    ("multinomial too few", lambda: fl.multinomial(fl.tensor([0.0, 1.0]), 2), RuntimeError, "multinomial.*2 samples"),
    ("bernoulli", lambda: fl.bernoulli(fl.tensor([2.0])), RuntimeError, "bernoulli.*0, 1"),
    ("dropout", lambda: F.dropout(ones(2), 1.5), RuntimeError, "dropout.*1.5"),
    ("pad odd", lambda: F.pad(ones(2), (1,)), RuntimeError, "pad.*pairs"),
    ("pad too many", lambda: F.pad(ones(2), (1, 1, 1, 1)), RuntimeError, r"pad.*\[2\]"),
    ("negative size", lambda: zeros(-1), RuntimeError, r"negative.*\[-1\]"),
    ("eye", lambda: fl.eye(-1), RuntimeError, "eye.*negative"),
    ("too many elements", lambda: zeros(2 ** 40, 2 ** 40), RuntimeError, "too large"),
    ("too many bytes", lambda: zeros(2 ** 61, dtype=fl.float64), RuntimeError, r"full.*\[2305843009213693952\].*bytes"),
    ("size beyond 62 bits", lambda: zeros(2 ** 62), RuntimeError, "too large"),
    ("expand beyond 62 bits", lambda: ones(1).expand(2 ** 40, 2 ** 40), RuntimeError, "too large"),
    ("huge view of nothing", lambda: zeros(0).view(2 ** 32, 2 ** 32), RuntimeError, "too large"),
    ("huge broadcast", lambda: ones(1).expand(2 ** 40, 1) + ones(1).expand(1, 2 ** 40), RuntimeError, "too large"),
    ("index beyond 62 bits", lambda: ones(2)[2 ** 62], RuntimeError, "too large"),
    ("arange step", lambda: fl.arange(0, 5, 0), RuntimeError, "arange.*step"),
    ("arange count", lambda: fl.arange(0, 1e30), RuntimeError, "arange.*no number of elements"),
    ("integers require grad", lambda: ints([1]).requires_grad_(), RuntimeError, "requires_grad_.*int64"),
    ("random integers require grad", lambda: fl.randint(0, 3, (2,), requires_grad=True), RuntimeError, "requires_grad_.*int64"),
    ("backward of many", lambda: (ones(2, requires_grad=True) * 2).backward(), RuntimeError, r"backward.*\[2\]"),
    ("backward without grad", lambda: ones(1).backward(), RuntimeError, "does not require grad"),
    ("backward shape", lambda: (ones(2, requires_grad=True) * 2).backward(ones(3)), RuntimeError, r"\[3\].*\[2\]"),
    ("item", lambda: ones(2).item(), RuntimeError, r"item.*\[2\]"),
    ("ragged", lambda: fl.tensor([[1, 2], [3]]), RuntimeError, "tensor.*lengths"),
    ("device", lambda: zeros(1, device="cuda:15"), RuntimeError, "full.*cuda|cuda:15|CUDA is not available"),
    ("learning rate", lambda: optim.SGD([ones(1, requires_grad=True)], lr=-1.0), ValueError, "SGD.*-1.0"),
    ("eps", lambda: optim.Adam([ones(1, requires_grad=True)], eps=-1.0), ValueError, "Adam: eps.*-1.0"),
    ("kernel of size 0", lambda: nn.Conv2d(1, 1, 0), ValueError, "Conv2d.*positive"),
]


@pytest.mark.parametrize("call,error,pattern", [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES])
def test_mistakes_are_named(call, error, pattern):
    with pytest.raises(error, match=pattern) as caught:
        call()
    assert not isinstance(caught.value, fl.InternalError)


def test_bounds_beyond_any_size_are_cut():
    x = fl.arange(5.0)
    assert x[:sys.maxsize].tolist() == x[-sys.maxsize - 1:].tolist() == [0, 1, 2, 3, 4]
    assert x[1::sys.maxsize].tolist() == [1]


WRITES = {
    "scatter_add_": lambda x: x.scatter_add_(1, ints([[0, 3], [0, 0]]), ones(2, 2)),
    "index_add_": lambda x: x.index_add_(0, ints([0, 2]), ones(2, 3)),
    "index_put_": lambda x: x.index_put_((ints([0, 2]),), ones(2, 3)),
    "index_put_ adding": lambda x: x.index_put_((ints([0, -3]),), ones(2, 3), accumulate=True),
    "setitem": lambda x: x.__setitem__(ints([0, 2]), 1.0),
    "setitem shape": lambda x: x.__setitem__(0, ones(2)),
    "setitem mask shape": lambda x: x.__setitem__(ones(3) > 0, 1.0),
    "copy_": lambda x: x.copy_(ones(4)),
    "add_": lambda x: x.add_(ones(2, 2)),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_refused_write_writes_nothing(write):
    x = zeros(2, 3)
    with pytest.raises((RuntimeError, IndexError)):
        write(x)
    assert x.tolist() == [[0] * 3] * 2 and x._version == 0


SHARED_WRITES = {
    "add_": lambda x: x.add_(1), "zero_": lambda x: x.zero_(), "copy_": lambda x: x.copy_(zeros(4)), "relu_": lambda x: x.relu_(),
    "clamp_": lambda x: x.clamp_(2, 3), "masked_fill_": lambda x: x.masked_fill_(ones(4) > 0, 5.0),
    "scatter_add_": lambda x: x.scatter_add_(0, ints([0]), ones(1)), "index_add_": lambda x: x.index_add_(0, ints([0]), ones(1)),
    "slice": lambda x: x.__setitem__(slice(0, 2), 5.0), "indices": lambda x: x.__setitem__(ints([0, 1]), 5.0),
    "index_put_": lambda x: x.index_put_((ints([0]),), fl.tensor(5.0)), "mask": lambda x: x.__setitem__(ones(4) > 0, 5.0)}


@pytest.mark.parametrize("write", SHARED_WRITES.values(), ids=SHARED_WRITES)
def test_elements_that_share_memory_are_not_written(write):
    cell = ones(1)
    with pytest.raises(RuntimeError, match="share one memory cell"):
        write(cell.expand(4))
    assert cell.tolist() == [1] and cell._version == 0
    # Windows that overlap, without a stride of 0.
    line = ones(7)
    with pytest.raises(RuntimeError, match="share one memory cell"):
        write(line.as_strided([4], [0]))
    assert line.tolist() == [1] * 7


def test_overlap_is_exact():
    line = zeros(8)
    with pytest.raises(RuntimeError, match="share one memory cell"):
        line.as_strided([2, 3], [1, 1]).add_(1)
    # Interleaved, but every element has its own cell.
    line.as_strided([3, 2], [2, 3]).add_(1)
    assert line.tolist() == [1, 0, 1, 1, 1, 1, 0, 1]


LEAF_WRITES = {"add_": lambda w: w.add_(1), "view": lambda w: w[0:1].mul_(2), "setitem": lambda w: w.__setitem__(0, 3.0),
               "indices": lambda w: w.__setitem__(ints([0]), 3.0), "zero_": lambda w: w.zero_(), "copy_": lambda w: w.copy_(zeros(2))}


@pytest.mark.parametrize("write", LEAF_WRITES.values(), ids=LEAF_WRITES)
def test_a_leaf_that_requires_grad_is_not_written(write):
    w = ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf.*no_grad"):
        write(w)
    assert w.tolist() == [1, 1] and w._version == 0 and w.requires_grad and w.is_leaf


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("count", zeros(1))


def test_a_state_that_does_not_fit_leaves_the_module():
    net = Net()
    before = {k: v.tolist() for k, v in net.state_dict().items()}
    good = {k: fl.full_like(v, 7) for k, v in net.state_dict().items()}
    for change, pattern in (({"count": None}, "missing: count"), ({"extra": ones(1)}, "unexpected: extra"),
                            ({"count": ones(2)}, r"count: expected shape \[1\], got \[2\]"),
                            ({"count": [1.0]}, "count: expected a tensor, got list")):
        state = {k: v for k, v in {**good, **change}.items() if v is not None}
        with pytest.raises((RuntimeError, TypeError), match=pattern):
            net.load_state_dict(state)
        assert {k: v.tolist() for k, v in net.state_dict().items()} == before


def test_an_optimizer_state_that_does_not_fit_leaves_the_optimizer():
    p = nn.Parameter(ones(2))
    opt = optim.Adam([p], lr=0.1)
    p.grad = ones(2)
    opt.step()
    before, lr = opt.state_dict(), opt.param_groups[0]["lr"]
    groups = [{**before["param_groups"][0], "lr": 0.5}]
    for state in ({0: {"step": 3.0, "exp_avg": ones(3), "exp_avg_sq": ones(2)}}, {7: {"step": 3.0}}, {0: {"step": "many"}}):
        with pytest.raises((ValueError, KeyError)):
            opt.load_state_dict({"state": state, "param_groups": groups})
    for bad in ({"lr": "fast"}, {"lr": -1.0}, {"betas": (2.0, 0.9)}):
        with pytest.raises(ValueError):
            opt.load_state_dict({"state": {}, "param_groups": [{**groups[0], "weight_decay": 0.3, **bad}]})
    after = opt.state_dict()
    assert after["state"][0]["step"] == 1 and fl.equal(after["state"][0]["exp_avg"], before["state"][0]["exp_avg"])
    assert opt.param_groups[0]["lr"] == lr and opt.param_groups[0].cells["lr"].get() == lr
    assert opt.param_groups[0]["weight_decay"] == 0


@pytest.mark.parametrize("name", ["run.pt", "run.safetensors"])
def test_a_damaged_checkpoint_changes_nothing(tmp_path, name):
    fl.manual_seed(3)
    net = Net()
    path = tmp_path / name
    fl.save(dict(net.state_dict()), path)
    whole, generator = path.read_bytes(), fl.get_rng_state().tolist()
    before = {k: v.tolist() for k, v in net.state_dict().items()}
    for data in (b"", whole[:7], whole[:len(whole) // 2], whole[:-1], b"\xff" * 64):
        path.write_bytes(data)
        with pytest.raises(RuntimeError, match=name):
            net.load_state_dict(fl.load(path))
    with pytest.raises(FileNotFoundError):
        fl.load(tmp_path / "missing" / name)
    assert {k: v.tolist() for k, v in net.state_dict().items()} == before and fl.get_rng_state().tolist() == generator


def test_negative_clipping_leaves_the_gradients():
    p = nn.Parameter(ones(2))
    p.grad = fl.tensor([3.0, 4.0])
    with pytest.raises(RuntimeError, match="clip_grad_norm_: max_norm.*-1"):
        nn.utils.clip_grad_norm_([p], -1.0)
    assert p.grad.tolist() == [3, 4]
    nn.utils.clip_grad_norm_([p, p], 2.5)
    assert p.grad.tolist() == pytest.approx([1.5, 2.0], rel=1e-5)


def test_a_step_whose_gradient_does_not_fit_changes_nothing():
    p, q = nn.Parameter(ones(2)), nn.Parameter(ones(2))
    opt = optim.Adam([{"params": [p]}, {"params": [q]}], lr=0.1)
    for t in (p, q):
        t.grad = ones(2)
    opt.step()
    before = p.tolist()
    q.data = ones(3)
    with pytest.raises(RuntimeError, match=r"Adam.step: parameter 0 of group 1 has shape \[3\].*gradient \[2\]"):
        opt.step()
    assert p.tolist() == before and [s["step"] for s in opt.state_dict()["state"].values()] == [1, 1]
