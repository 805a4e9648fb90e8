"""Training on the digits: it learns, and resumed training equals uninterrupted training bit for bit."""

import importlib.util
from pathlib import Path

import fuselet as torch
from fuselet import nn

ROOT = Path(__file__).resolve().parents[2]


def digits():
    spec = importlib.util.spec_from_file_location("train_digits", ROOT / "examples/python/train_digits.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    images = example.read_idx(example.DATA / "digits-images.idx3-ubyte").float() / example.BRIGHTEST
    return images.flatten(1), example.read_idx(example.DATA / "digits-labels.idx1-ubyte").long()


class Run:
    """An MLP with dropout, clipping, AdamW and a schedule."""

    def __init__(self):
        torch.manual_seed(7)
        self.model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 200)
        self.order = torch.Generator().manual_seed(3)

    def train(self, x, y, steps):
        self.model.train()
        for _ in range(steps):
            batch = torch.randint(0, 1400, (64,), generator=self.order)
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.model(x[batch]), y[batch])
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.schedule.step()

    def state(self):
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "schedule": self.schedule.state_dict(),
                "rng": torch.get_rng_state(), "order": self.order.get_state()}

    def load(self, state):
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["rng"])
        self.order.set_state(state["order"])


def same(a, b):
    assert list(a) == list(b)
    return all(torch.equal(a[k], b[k]) for k in a)


def test_it_learns_and_resumes_bit_for_bit(tmp_path):
    x, y = digits()
    whole = Run()
    whole.train(x, y, 100)
    torch.save(whole.state(), tmp_path / "half.pt")
    whole.train(x, y, 100)

    resumed = Run()
    resumed.load(torch.load(tmp_path / "half.pt"))
    resumed.train(x, y, 100)
    assert same(whole.model.state_dict(), resumed.model.state_dict())
    for i, entries in whole.optimizer.state_dict()["state"].items():
        other = resumed.optimizer.state_dict()["state"][i]
        assert entries["step"] == other["step"] == 200 and torch.equal(entries["exp_avg_sq"], other["exp_avg_sq"])

    whole.model.eval()
    with torch.no_grad():
        right = (whole.model(x[1400:]).argmax(1) == y[1400:]).float().mean().item()
    assert right > 0.85, right


def test_one_thread_equals_two():
    x, y = digits()
    before, states = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            run = Run()
            run.train(x, y, 20)
            states.append(run.model.state_dict())
    finally:
        torch.set_num_threads(before)
    assert same(*states)
