"""Ten float32 losses of three models on a CUDA device beside PyTorch's from the same weights and batches: eager, compiled
and as a whole step. Needs PyTorch; prints one JSON object a line and exits with 1 where a loss differs.

losses_against_torch.py [--device cuda|cpu]
"""

import argparse
import json
import sys

import numpy as np
import torch

import fuselet

STEPS = 10
# Of a loss: sums are taken in other orders, and ten steps of Adam carry differences on.
TOLERANCE = 1e-4


def mlp(t):
    nn = t.nn
    return nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


def cnn(t):
    nn = t.nn
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10))


def gpt(t, vocabulary=64, width=64, heads=4, length=16):
    nn, F = t.nn, t.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x, mask):
            b, n, _ = x.shape
            q, k, v = [self.qkv(self.norm1(x))[:, :, i * width:(i + 1) * width].reshape(b, n, heads, width // heads)
                       .transpose(1, 2) for i in range(3)]
            scores = (q @ k.transpose(2, 3)) * (width // heads) ** -0.5
            x = x + self.out((F.softmax(scores.masked_fill(mask, -1e30), -1) @ v).transpose(1, 2).reshape(b, n, width))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.block1, self.block2, self.norm = Block(), Block(), nn.LayerNorm(width)
            self.head = nn.Linear(width, vocabulary)
            self.register_buffer("mask", t.tensor(np.triu(np.ones((length, length)), 1).astype(bool).tolist()))
            self.register_buffer("order", t.tensor(list(range(length))))

        def forward(self, x):
            h = self.tokens(x) + self.places(self.order)
            return self.head(self.norm(self.block2(self.block1(h, self.mask), self.mask))).reshape(-1, vocabulary)

    return Gpt()


def batches(name):
    rng = np.random.default_rng(5)
    for _ in range(STEPS):
        if name == "gpt":
            x = rng.integers(0, 64, (8, 16))
            yield x, np.roll(x, -1, 1).reshape(-1)
        else:
            shape = (32, 64) if name == "mlp" else (32, 1, 8, 8)
            yield rng.standard_normal(shape).astype(np.float32), rng.integers(0, 10, 32)


def train(t, model, name, device, mode):
    model.to(device)
    optimizer = t.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    forward = t.compile(model) if mode == "compiled" else model

    def step(x, y):
        optimizer.zero_grad()
        loss = t.nn.functional.cross_entropy(forward(x), y)
        loss.backward()
        optimizer.step()
        return loss

    run = t.compile(step) if mode == "whole step" else step
    return [run(t.tensor(x).to(device), t.tensor(y).to(device)).item() for x, y in batches(name)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--device", default="cuda")
    device = parser.parse_args().device
    failed = False
    for name, make in (("mlp", mlp), ("cnn", cnn), ("gpt", gpt)):
        torch.manual_seed(0)
        theirs = make(torch)
        weights = {key: value.detach().numpy().copy() for key, value in theirs.state_dict().items()}
        want = train(torch, theirs, name, device, "eager")
        for mode in ("eager", "compiled", "whole step"):
            ours = make(fuselet)
            ours.load_state_dict({key: fuselet.tensor(value) for key, value in weights.items()})
            got = train(fuselet, ours, name, device, mode)
            worst = max(abs(a - b) / abs(b) for a, b in zip(got, want))
            failed |= not worst <= TOLERANCE
            print(json.dumps({"model": name, "mode": mode, "largest_relative_difference": worst, "first": got[0],
                              "last": got[-1], "torch_last": want[-1]}), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
