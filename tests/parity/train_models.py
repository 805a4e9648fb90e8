"""Training runs of the models in `models/`: written for PyTorch, importing `fuselet as torch`.

Weights and batches come from NumPy by name and number, so that runs of different libraries start alike.
"""

import pathlib
import re
import sys
import types
import zlib

import numpy as np

MODELS = ("gpt", "resnet", "vit")
STEPS = 20


def source_of(name):
    return (pathlib.Path(__file__).parent / "models" / f"{name}.py").read_text()


def model_code(name, library="fuselet"):
    """The model's module, with `library` in place of fuselet."""
    module = types.ModuleType(f"{name}_of_{library}")
    code = re.sub(r"\bfuselet\b", library, source_of(name))
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(code, f"{name}.py", "exec"), module.__dict__)
    return module


def set_weights(model, from_numpy):
    """Values by parameter name: of the size of common initialisations, none of them zero."""
    state = {}
    for name, t in model.state_dict().items():
        draws = np.random.default_rng(zlib.crc32(name.encode()))
        shape = tuple(t.shape)
        if "running_var" in name:
            values = np.ones(shape)
        elif "running_mean" in name or "num_batches" in name:
            values = np.zeros(shape)
        elif len(shape) >= 2:
            values = draws.standard_normal(shape) * (0.7 / np.sqrt(np.prod(shape[1:])))
        else:
            values = draws.uniform(-0.1, 0.1, shape) + (1.0 if re.search(r"(norm\w*|bn\d|ln\w*|downsample\.1)\.weight$|gamma$", name)
                                                        else 0.0)
        state[name] = from_numpy(values, t)
    # Tied weights: one of the two names decides.
    if "lm_head.weight" in state:
        state["transformer.wte.weight"] = state["lm_head.weight"]
    model.load_state_dict(state)


def losses(name, library, device, mode="eager", steps=STEPS):
    """The losses of `steps` steps. mode: eager, compiled (the model), step (the whole step)."""
    code = model_code(name, library.__name__)
    model = code.build()
    set_weights(model, lambda values, t: library.tensor(values.tolist(), dtype=t.dtype))
    model.to(device)
    model.train()
    optimizer = code.optimizer_of(model)
    run = library.compile(model) if mode == "compiled" else model

    def step(x, y):
        optimizer.zero_grad()
        loss = code.loss_of(run, x, y)
        loss.backward()
        code.before_step(model)
        optimizer.step()
        return loss

    run_step = library.compile(step) if mode == "step" else step
    draws = np.random.default_rng(0)
    out = []
    for _ in range(steps):
        x, y = (library.from_numpy(np.ascontiguousarray(a)).to(device) for a in code.batch(draws))
        out.append(run_step(x, y).item())
    return out
