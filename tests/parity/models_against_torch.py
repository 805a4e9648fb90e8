"""Three models in ordinary PyTorch style (models/), 20 training steps each, beside PyTorch's from the same weights and
batches: eager, the model compiled, the whole step compiled. Needs PyTorch. Prints one JSON object a line; exits with 1
where a loss differs. --record writes PyTorch's losses to the file that the tests compare with.

models_against_torch.py [--device cuda|cpu] [--record] [MODEL…]
"""

import argparse
import json
import pathlib
import sys

import torch

import fuselet
from train_models import MODELS, losses

RECORDED = pathlib.Path(__file__).parent / "models" / "torch_losses.json"
# Of a loss: sums are taken in other orders, and twenty steps carry differences on.
TOLERANCE = 1e-4


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    wrong, recorded = False, {}
    for name in options.models:
        want = recorded[name] = losses(name, torch, options.device)
        for mode in ("eager", "compiled", "step"):
            got = losses(name, fuselet, options.device, mode)
            worst = max(abs(g - w) / abs(w) for g, w in zip(got, want))
            wrong |= not worst <= TOLERANCE
            print(json.dumps({"model": name, "mode": mode, "device": options.device, "steps": len(want), "first_loss": want[0],
                              "last_loss": want[-1], "largest_relative_difference": worst}), flush=True)
    if options.record:
        RECORDED.write_text(json.dumps({"torch": torch.__version__, "device": torch.cuda.get_device_name()
                                        if options.device == "cuda" else options.device, "losses": recorded}, indent=1) + "\n")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
