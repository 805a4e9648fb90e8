"""Trains an MLP or a small CNN on handwritten digits, its step compiled or eager, and prints the accuracy on a fifth that
it has not seen.

./dev python examples/python/train_digits.py --model cnn
"""

import argparse
import struct
import sys
from pathlib import Path

import fuselet as fl
from fuselet import nn
from fuselet.utils.data import DataLoader, TensorDataset, random_split
from tqdm import tqdm

DATA = Path(__file__).resolve().parents[1] / "data"
BRIGHTEST = 16.0  # the images' values are 0 … 16
BATCH = 32


def read_idx(path):
    """An IDX file of bytes: two zero bytes, element type, rank, big-endian sizes, elements."""
    data = Path(path).read_bytes()
    zeros, kind, rank = struct.unpack(">HBB", data[:4])
    sizes = struct.unpack(f">{rank}I", data[4:4 + 4 * rank])
    if zeros or kind != 8 or len(data) != 4 + 4 * rank + fl.Size(sizes).numel():
        raise ValueError(f"{path} is no whole IDX file of bytes")
    return fl.tensor(list(data[4 + 4 * rank:]), dtype=fl.uint8).view(sizes)


def make_model(name):
    """x: (N, 1, 8, 8); logits: (N, 10)"""
    if name == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),   # (N, 16, 8, 8)
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),  # (N, 32, 8, 8)
        nn.MaxPool2d(2),                             # (N, 32, 4, 4)
        nn.Flatten(), nn.Dropout(0.25), nn.Linear(32 * 4 * 4, 64), nn.ReLU(), nn.Linear(64, 10))


@fl.no_grad()
def evaluate(model, examples):
    """(loss, accuracy) over all examples at once."""
    model.eval()
    inputs, labels = next(iter(DataLoader(examples, batch_size=len(examples))))
    logits = model(inputs)
    loss = nn.functional.cross_entropy(logits, labels).item()
    return loss, (logits.argmax(1) == labels).float().mean().item()


def count(text):
    """An option's number, at least 1."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be positive, got {text}")
    return int(text)


def main():
    parser = argparse.ArgumentParser(description="trains a classifier of handwritten digits")
    parser.add_argument("--model", choices=["mlp", "cnn"], default="cnn")
    parser.add_argument("--mode", choices=["eager", "compiled"], default="compiled")
    parser.add_argument("--epochs", type=count, default=20, help="passes over the training images")
    parser.add_argument("--seed", type=int, default=0, help="of weights, dropout and order")
    parser.add_argument("--threads", type=int, default=0, help="0 for all cores")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the digits")
    parser.add_argument("--save", help="writes a checkpoint here after each epoch")
    parser.add_argument("--resume", help="goes on from this checkpoint")
    parser.add_argument("--progress", choices=["on", "off"], default="on")
    options = parser.parse_args()
    if options.threads:
        fl.set_num_threads(options.threads)
    fl.manual_seed(options.seed)

    images = read_idx(options.data / "digits-images.idx3-ubyte").float().unsqueeze(1) / BRIGHTEST
    labels = read_idx(options.data / "digits-labels.idx1-ubyte").long()
    digits = TensorDataset(images, labels)
    # The split is the same for every seed, so that accuracies compare.
    held_out = len(digits) // 5
    training, test = random_split(digits, [len(digits) - held_out, held_out], fl.Generator().manual_seed(2024))
    training, test = (TensorDataset(*digits[fl.tensor(part.indices)]) for part in (training, test))
    order = fl.Generator().manual_seed(options.seed)
    loader = DataLoader(training, batch_size=BATCH, shuffle=True, drop_last=True, generator=order)

    model = make_model(options.model)
    optimizer = fl.optim.AdamW(model.parameters(), lr=3e-3)
    scheduler = fl.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.epochs * len(loader))
    print(f"{options.model}, {len(training)} training and {len(test)} test images\n{model}")

    def step(inputs, targets):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss

    if options.mode == "compiled":
        step = fl.compile(step)

    first = 0
    if options.resume:
        state = fl.load(options.resume)
        if state["name"] != options.model:
            sys.exit(f"train_digits: the checkpoint holds the model {state['name']}")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        fl.set_rng_state(state["rng"])
        order.set_state(state["order"])
        first = state["epoch"]
        print(f"resumed after epoch {first}")

    for epoch in range(first, options.epochs):
        model.train()
        total = 0.0
        bar = tqdm(loader, desc=f"epoch {epoch + 1}", disable=options.progress == "off")
        for inputs, targets in bar:
            loss = step(inputs, targets).item()
            scheduler.step()
            total += loss
            bar.set_postfix(loss=f"{loss:.4f}")
        test_loss, accuracy = evaluate(model, test)
        print(f"epoch {epoch + 1:2d}  training loss {total / len(loader):.4f}  test loss {test_loss:.4f}  "
              f"test accuracy {accuracy:.4f}", flush=True)
        if options.save:
            fl.save({"name": options.model, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                     "scheduler": scheduler.state_dict(), "rng": fl.get_rng_state(), "order": order.get_state(),
                     "epoch": epoch + 1}, options.save)
    if options.mode == "compiled":
        print(f"compiled step: {fl.compiler.stats(step)}")
    print(f"test accuracy {evaluate(model, test)[1]:.4f}")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"train_digits: {error}")
