"""Functions behind the modules."""

from __future__ import annotations

import math

from .. import _C, composed
from .activation_functions import *  # noqa: F403
from .loss_functions import *  # noqa: F403
from .normalization_functions import *  # noqa: F403

_F = _C.functions

linear = _F.linear


def softmax(input, dim=-1, dtype=None):
    """exp(input - max) / sum(exp(input - max)) along dim: positive numbers that sum to 1.

    input: any shape, floating (with dtype, converted to that first); the result has the same shape and dtype.
    A slice of -inf alone gives NaN; safe_softmax gives 0. RuntimeError for integers, IndexError for a
    dimension out of range."""
    return _F.softmax(input, dim, dtype)


def log_softmax(input, dim=-1, dtype=None):
    """input - max - log(sum(exp(input - max))) along dim, which stays finite where log(softmax) would not.
    Shapes, dtypes and errors as for softmax."""
    return _F.log_softmax(input, dim, dtype)


def safe_softmax(input, dim=-1):
    """softmax, but 0 for a slice of -inf alone, as attention wants of a row that sees nothing. NaN stays NaN."""
    masked = (input.detach() == -math.inf).to(_C.uint8).amin([dim], True).to(_C.bool)
    return _F.where(masked, 0.0, _F.softmax(_F.where(masked, 0.0, input), dim))


def _unbatched(apply, input):
    """apply(input), which takes (N, C, H, W), also for one image (C, H, W)."""
    return apply(input.unsqueeze(0)).squeeze(0) if input.dim() == 3 else apply(input)


def conv2d(input, weight, bias=None, stride=1, padding=0):
    """Cross-correlation of input (N, C, H, W) or (C, H, W) with weight (O, C, KH, KW), plus bias (O): shape
    (N, O, H', W') or (O, H', W') with H' = floor((H + 2 padding - KH) / stride) + 1.

    stride and padding are a number or a pair. padding='valid' is 0; 'same' keeps H and W, for stride 1.
    RuntimeError for other shapes or dtypes."""
    if padding == "valid":
        padding = 0
    elif padding == "same":
        if stride not in (1, (1, 1), [1, 1]):
            raise ValueError(f"conv2d: padding='same' needs stride 1, got {stride}")
        # An even kernel has one element more after its middle than before it.
        rows, columns = (size - 1 for size in weight.shape[-2:])
        if rows % 2 or columns % 2:
            input = pad(input, (0, columns % 2, 0, rows % 2))
        padding = (rows // 2, columns // 2)
    elif isinstance(padding, str):
        raise ValueError(f"conv2d: padding must be 'valid', 'same' or numbers, got {padding!r}")
    return _unbatched(lambda x: _F.conv2d(x, weight, bias, stride, padding), input)


def embedding(input, weight, padding_idx=None):
    """Rows of weight (V, D) at the integers `input` (…): shape (…, D), dtype of weight. The row padding_idx
    gets no gradient. IndexError for an index outside [-V, V)."""
    if padding_idx is not None and padding_idx < 0:
        if padding_idx < -weight.size(0):
            raise IndexError(f"embedding: padding_idx {padding_idx} is out of range for {weight.size(0)} rows")
        padding_idx += weight.size(0)
    return _F.embedding(weight, input, padding_idx)


def max_pool2d(input, kernel_size, stride=None, padding=0):
    """Largest element of each window of (N, C, H, W) or (C, H, W): (…, C, H', W') with H' = floor((H + 2 padding - kernel) /
    stride) + 1. Sizes are a number or a pair (height, width); stride defaults to kernel_size, and padding is at
    most half of it. NaN wins. RuntimeError for other shapes or an empty result."""
    return _unbatched(lambda x: _F.max_pool2d(x, kernel_size, [] if stride is None else stride, padding), input)


def dropout(input, p=0.5, training=True, inplace=False):
    """While training, elements zeroed with probability p and the rest scaled by 1 / (1 - p) (Srivastava et al.
    2014); else the input itself. Takes one draw of the default generator. p is rounded to a multiple of 2^-16,
    and the scale uses the rounded one. RuntimeError for p outside [0, 1] or an integer input."""
    return _F.dropout(input, p, training)


def one_hot(input, num_classes=-1):
    """Integers (…) -> int64 (…, num_classes) with a 1 at each."""
    if input.is_floating_point() or input.dtype is _C.bool:
        raise RuntimeError(f"one_hot: expected integer classes, got {input.dtype}")
    low, high = (int(input.amin().item()), int(input.amax().item())) if input.numel() else (0, -1)
    if num_classes < 0:
        num_classes = high + 1
    if low < 0 or high >= num_classes:
        raise IndexError(f"one_hot: class {low if low < 0 else high} is out of range for {num_classes} classes")
    return (input.unsqueeze(-1) == _F.arange(num_classes, device=input.device)).to(_C.int64)


def pad(input, pad, mode="constant", value=0.0):
    """`pad` gives (before, after) for the last dimension, then for the one before it, …"""
    if mode != "constant":
        raise NotImplementedError("pad: only mode='constant'")
    if len(pad) % 2 or len(pad) > 2 * input.dim() or any(count < 0 for count in pad):
        raise RuntimeError(f"pad: expected pairs of counts that are not negative, at most {input.dim()} of them for shape "
                           f"{list(input.shape)}, got {list(pad)}")
    for i in range(len(pad) // 2):
        dim, parts = input.dim() - 1 - i, [input]
        for count, before in ((pad[2 * i], True), (pad[2 * i + 1], False)):
            if count:
                shape = list(input.shape)
                shape[dim] = count
                block = _F.full(shape, value, dtype=input.dtype, device=input.device)
                parts = [block, *parts] if before else [*parts, block]
        input = _F.cat(parts, dim) if len(parts) > 1 else input
    return input


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    """softmax(query @ key.T * scale) @ value (Vaswani et al. 2017), scale being 1 / sqrt(D) by default.

    query (…, T, D), key (…, S, D), value (…, S, E) -> (…, T, E). attn_mask broadcasts to (…, T, S): a bool one is
    True where a key is seen, a floating one is added. is_causal lets row t see the keys up to t. A row that sees
    nothing gives 0. Dropout takes place whenever dropout_p > 0."""
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = (query * scale) @ key.transpose(-2, -1)
    if is_causal:
        attn_mask = composed.tril(_F.ones([query.size(-2), key.size(-2)], device=query.device)) != 0
    if attn_mask is not None:
        scores = scores.masked_fill(_F.logical_not(attn_mask), -math.inf) if attn_mask.dtype is _C.bool else scores + attn_mask
    return dropout(safe_softmax(scores, -1), dropout_p, dropout_p > 0) @ value
