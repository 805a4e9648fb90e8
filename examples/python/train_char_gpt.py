"""Trains a small GPT to continue text character by character, its step compiled or eager, then prints a sample.

The text is this project's own sources, or any UTF-8 file.
./dev python examples/python/train_char_gpt.py --steps 300
"""

import argparse
import math
import sys
from pathlib import Path

import fuselet as fl
from fuselet import nn
from fuselet.nn import functional as F
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[2]


class CausalSelfAttention(nn.Module):
    """x: (B, T, C) to the same; place t sees the places up to t."""

    def __init__(self, width, heads, context, dropout):
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        # (T, T), true where the key comes after the query
        places = fl.arange(context)
        self.register_buffer("future", places.unsqueeze(0) > places.unsqueeze(1), persistent=False)

    def forward(self, x):
        batch, length, width = x.shape
        # (3, B, H, T, D)
        parts = self.query_key_value(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        query, key, value = parts[0], parts[1], parts[2]
        scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(width // self.heads))
        weights = scores.masked_fill(self.future[:length, :length], -math.inf).softmax(-1)
        return self.output((self.dropout(weights) @ value).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, context, dropout):
        super().__init__()
        self.before_attention = nn.LayerNorm(width)
        self.before_mlp = nn.LayerNorm(width)
        self.attention = CausalSelfAttention(width, heads, context, dropout)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.mlp(self.before_mlp(x))


class CharGpt(nn.Module):
    """tokens: (B, T) int64; logits: (B, T, V)"""

    def __init__(self, vocabulary, context, width, heads, layers, dropout):
        super().__init__()
        self.context = context
        self.characters = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads, context, dropout) for _ in range(layers))
        self.last_norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.apply(self._initialise)
        self.head.weight = self.characters.weight

    @staticmethod
    def _initialise(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, 0.0, 0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, tokens):
        x = self.characters(tokens) + self.places(fl.arange(tokens.size(1)))
        for block in self.blocks:
            x = block(x)
        return self.head(self.last_norm(x))


class Vocabulary:
    """The distinct characters of a text, numbered in code point order."""

    def __init__(self, text):
        self.characters = "".join(sorted(set(text)))
        self.number = {c: i for i, c in enumerate(self.characters)}

    def encode(self, text):
        for c in text:
            if c not in self.number:
                sys.exit(f"train_char_gpt: the character {c!r} is not in the training text")
        return fl.tensor([self.number[c] for c in text], dtype=fl.int64)

    def decode(self, tokens):
        return "".join(self.characters[i] for i in tokens)


def own_sources():
    """The sources in alphabetical order, so that the text is the same everywhere."""
    folders = ("core", "autograd", "compiler", "backends", "frontend/cpp")
    files = sorted(f for folder in folders for f in (ROOT / folder).rglob("*") if f.suffix in (".h", ".cpp"))
    return "".join(f.read_text() for f in files)


def draw_batch(tokens, context, count, generator):
    """`count` random windows of `context` characters, and the same one character further."""
    starts = fl.randint(0, tokens.size(0) - context, (count, 1), generator=generator)
    at = starts + fl.arange(context)
    return tokens[at], tokens[at + 1]


def loss_of(model, inputs, targets):
    logits = model(inputs)
    return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))


@fl.no_grad()
def held_out_loss(model, tokens):
    """The mean over windows spread evenly through the held-out text."""
    windows = 64
    model.eval()
    last = tokens.size(0) - model.context - 1
    starts = fl.tensor([i * last // windows for i in range(windows)]).unsqueeze(1)
    at = starts + fl.arange(model.context)
    return loss_of(model, tokens[at], tokens[at + 1]).item()


@fl.no_grad()
def sample(model, vocabulary, prompt, length, temperature):
    """Continues `prompt`, drawing each character from the model's distribution at the given temperature."""
    model.eval()
    tokens = vocabulary.encode(prompt).tolist()
    for _ in range(length):
        logits = model(fl.tensor([tokens[-model.context:]]))[0, -1]
        tokens.append(int(fl.multinomial((logits / temperature).softmax(-1), 1).item()))
    return vocabulary.decode(tokens)


def count(text):
    """An option's number, at least 1."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be positive, got {text}")
    return int(text)


def main():
    parser = argparse.ArgumentParser(description="trains a small GPT on characters")
    parser.add_argument("--text", help="a UTF-8 file; the project's own sources by default")
    for name, kind, default in (("steps", count, 600), ("batch", count, 16), ("context", count, 64), ("width", count, 96),
                                ("heads", count, 4), ("layers", count, 3), ("dropout", float, 0.0), ("lr", float, 3e-3),
                                ("seed", int, 0), ("threads", int, 0), ("report", count, 100), ("sample", int, 400),
                                ("temperature", float, 0.8)):
        parser.add_argument(f"--{name}", type=kind, default=default)
    parser.add_argument("--mode", choices=["eager", "compiled"], default="compiled")
    parser.add_argument("--prompt", default="namespace fuselet {\n")
    parser.add_argument("--save", help="writes a checkpoint here at each report")
    parser.add_argument("--resume", help="goes on from this checkpoint")
    parser.add_argument("--progress", choices=["on", "off"], default="on")
    options = parser.parse_args()
    if options.width % options.heads:
        parser.error(f"--width {options.width} is no multiple of --heads {options.heads}")
    if not options.prompt:
        parser.error("--prompt needs at least one character")
    if options.threads:
        fl.set_num_threads(options.threads)
    fl.manual_seed(options.seed)

    text = Path(options.text).read_text() if options.text else own_sources()
    vocabulary = Vocabulary(text)
    tokens = vocabulary.encode(text)
    cut = len(text) * 9 // 10
    if len(text) - cut <= options.context + 1:
        sys.exit(f"train_char_gpt: a text of {len(text)} characters is too short for --context {options.context}")
    vocabulary.encode(options.prompt)  # said before the training rather than after it
    order = fl.Generator().manual_seed(options.seed)

    model = CharGpt(len(vocabulary.characters), options.context, options.width, options.heads, options.layers, options.dropout)
    # Vectors (biases and norms) do not decay.
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    optimizer = fl.optim.AdamW([{"params": matrices}, {"params": vectors, "weight_decay": 0.0}], lr=options.lr,
                               betas=(0.9, 0.98), weight_decay=0.1)

    def rate(step):
        warmup, least = 50, 0.1
        cosine = least + (1 - least) * 0.5 * (1 + math.cos(math.pi * min(step / options.steps, 1.0)))
        return min((step + 1) / warmup, 1.0) * cosine

    scheduler = fl.optim.lr_scheduler.LambdaLR(optimizer, rate)
    print(f"{len(text)} characters of {len(vocabulary.characters)} kinds, {sum(p.numel() for p in model.parameters())} parameters")

    def train_on(inputs, targets):
        optimizer.zero_grad()
        loss = loss_of(model, inputs, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    if options.mode == "compiled":
        train_on = fl.compile(train_on)

    step = 0
    if options.resume:
        state = fl.load(options.resume)
        if state["characters"] != vocabulary.characters:
            sys.exit("train_char_gpt: the checkpoint was trained on a text of other characters")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        fl.set_rng_state(state["rng"])
        order.set_state(state["order"])
        step = state["step"]
        print(f"resumed after step {step}")

    bar = tqdm(initial=step, total=options.steps, desc="training", disable=options.progress == "off")
    while step < options.steps:
        model.train()
        loss = train_on(*draw_batch(tokens[:cut], options.context, options.batch, order))
        scheduler.step()
        step += 1
        bar.update()
        if step % 10 == 0:
            bar.set_postfix(loss=f"{loss.item():.3f}")
        if step % options.report == 0 or step == options.steps:
            bar.write(f"step {step}  training loss {loss.item():.4f}  held-out loss {held_out_loss(model, tokens[cut:]):.4f}")
            if options.save:
                fl.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(),
                         "rng": fl.get_rng_state(), "order": order.get_state(), "step": step,
                         "characters": vocabulary.characters}, options.save)
    bar.close()
    if options.mode == "compiled":
        print(f"compiled step: {fl.compiler.stats(train_on)}")
    print(sample(model, vocabulary, options.prompt, options.sample, options.temperature))


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"train_char_gpt: {error}")
