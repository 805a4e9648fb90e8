"""How tensors print after set_printoptions(): aligned columns of numbers with a given precision.

Without it, numbers print in their shortest form with five digits (eight in float64).
"""

from __future__ import annotations

import dataclasses
import math
import re

from . import _C


@dataclasses.dataclass
class _Options:
    precision: int = 4  # digits after the point
    threshold: float = 1000  # elements; a tensor with more is summed up
    edgeitems: int = 3  # entries at either end of a dimension that is summed up
    linewidth: int = 80  # characters
    sci_mode: bool | None = None  # None: by the range of the numbers


_PROFILES = {"default": {}, "short": {"precision": 2, "edgeitems": 2}, "full": {"threshold": math.inf}}
_options = None


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Sets how tensors print: digits after the point (4), how many elements print in full (1000), entries at either end of
    a longer dimension (3), characters a line (80), and whether numbers print with an exponent (None: where their range
    asks for it). profile 'default', 'short' or 'full' sets all of them first."""
    global _options
    if profile is not None and profile not in _PROFILES:
        raise ValueError(f"set_printoptions: no profile {profile!r}; there are {', '.join(_PROFILES)}")
    chosen = _Options(**_PROFILES[profile or "default"]) if profile is not None or _options is None else dataclasses.replace(_options)
    given = dict(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth)
    for name, value in given.items():
        if value is not None:
            setattr(chosen, name, value)
    chosen.sci_mode = sci_mode
    _options = chosen


def text_of(tensor):
    """What repr() shows, without the history."""
    plain = tensor._text()
    if _options is None or "deferred" in plain or tensor.numel() == 0:
        return plain
    suffix = re.search(r"((?:, (?:dtype|device|requires_grad)=[^,)]*)*)\)$", plain).group(1)
    return f"tensor({_body(tensor.detach().cpu())}{suffix})"


def _body(tensor):
    values = tensor.to(_C.float32) if tensor.dtype is _C.bfloat16 else tensor
    whole = tensor.numel() > _options.threshold
    shown = [v for v in _flat(_edges(values, whole)) if v is not None]
    write = _formatter(shown, tensor.is_floating_point())
    return _lines(_edges(values, whole), write, len("tensor("))


def _edges(tensor, whole):
    """Nested lists of numbers; None in the place of the entries left out."""
    if tensor.dim() == 0:
        return tensor.item()
    n, k = tensor.size(0), _options.edgeitems
    if not whole or n <= 2 * k:
        return [_edges(tensor[i], whole) for i in range(n)]
    return [_edges(tensor[i], whole) for i in range(k)] + [None] + [_edges(tensor[n - k + i], whole) for i in range(k)]


def _flat(nested):
    return [v for part in nested for v in _flat(part)] if isinstance(nested, list) else [nested]


def _formatter(values, floating):
    """A function from a number to a text; all texts have one width."""
    if not floating:
        texts = {v: str(v) for v in values}
    else:
        sizes = [abs(v) for v in values if v != 0 and math.isfinite(v)]
        low, high = (min(sizes), max(sizes)) if sizes else (1.0, 1.0)
        whole = all(v == math.ceil(v) for v in sizes)
        exponent = high / low > 1000 or high > 1e8 or not whole and low < 1e-4
        exponent = exponent if _options.sci_mode is None else _options.sci_mode
        form = f".{_options.precision}e" if exponent else ".0f" if whole else f".{_options.precision}f"
        point = "." if whole and not exponent else ""
        texts = {v: format(v, form) + (point if math.isfinite(v) else "") for v in values}
    width = max((len(t) for t in texts.values()), default=0)
    return lambda v: texts.get(v, "nan").rjust(width)


def _lines(nested, write, indent):
    if not isinstance(nested, list):
        return write(nested).strip()
    if not any(isinstance(part, list) for part in nested):
        texts = [" ..." if v is None else write(v) for v in nested]
        a_line = max(1, (_options.linewidth - indent) // (max(map(len, texts)) + 2))
        rows = [", ".join(texts[i:i + a_line]) for i in range(0, len(texts), a_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"
    parts = ["..." if part is None else _lines(part, write, indent + 1) for part in nested]
    depth = 0
    probe = nested[0]
    while isinstance(probe, list):
        depth, probe = depth + 1, probe[0]
    return "[" + ("," + "\n" * depth + " " * (indent + 1)).join(parts) + "]"
