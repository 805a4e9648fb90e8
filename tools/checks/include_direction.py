"""Includes go core <- autograd <- compiler <- backends <- frontend and never back.

Only backends/registry.cpp, the tests, and the one header that is a backend's surface for users (as
fuselet/cuda.h) name a header of a concrete backend from outside that backend's folder, but for the
table that the simulated device fills; the compiler includes no CUDA header; an include in quotes
starts at the root.
"""

import re

from tools.checks.problem import Problem

LAYERS = ["core", "autograd", "compiler", "backends", "frontend"]
OTHER_ROOTS = {"tests", "examples", "tools"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CUDA_HEADER = re.compile(r"^(cuda|nvrtc|cublas|cupti|cudnn)\w*\.h$")
REGISTRY = "backends/registry.cpp"
# What backends share.
SHARED = ("backends/codegen", "backends/jit")
SURFACES = {"frontend/cpp/fuselet/cuda.h": "backends/cuda"}
# The simulated device fills the driver's table.
SEAM = ("backends/cuda_sim", "backends/cuda/driver/driver_api.h")


def _layer(path):
    top = path.split("/")[0]
    return "frontend" if top == "fuselet" else top


def _concrete_backend(path):
    parts = path.split("/")
    folder = "/".join(parts[:2])
    return folder if parts[0] == "backends" and len(parts) > 2 and folder not in SHARED else None


def _judge(path, quote, header):
    own, target = _layer(path), _layer(header)
    if own == "compiler" and CUDA_HEADER.match(header.split("/")[-1]):
        return f"the compiler is device-neutral and includes no CUDA header: {header}"
    if target not in LAYERS:
        if quote == '"' and target not in OTHER_ROOTS:
            return f'"{header}" does not start at the repository\'s root'
        return None
    if own in LAYERS and LAYERS.index(target) > LAYERS.index(own):
        return f"{own} must not include {target}: {header}"
    backend = _concrete_backend(header)
    inside = backend in (None, _concrete_backend(path), SURFACES.get(path))
    inside = inside or (_concrete_backend(path), header) == SEAM
    if not inside and path != REGISTRY and own != "tests":
        return f"only {REGISTRY} names a concrete backend: {header}"
    return None


def find(tree):
    for path in tree.select(".h", ".cpp", ".cu"):
        # The project in tests/install stands for a user's own.
        if path.startswith("tests/install/"):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            match = INCLUDE.match(line)
            message = match and _judge(path, *match.groups())
            if message:
                yield Problem(path, number, message)
