"""Functions behind the modules."""

from __future__ import annotations

import math

from ..pytorch_names import absent as _absent
from .. import _C, composed
from ..contracting import bilinear  # noqa: F401
from ..distances import pdist  # noqa: F401
from .functions.attention import scaled_dot_product_attention  # noqa: F401
from .functions.convolutions import (conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d,  # noqa: F401
                                     conv_transpose3d, fold, unfold)
from .functions.ctc import ctc_loss  # noqa: F401
from .functions.dropping import alpha_dropout, dropout1d, dropout2d, dropout3d, gumbel_softmax  # noqa: F401
from .functions.embedding_bags import embedding_bag  # noqa: F401
from .functions.grid_sampling import affine_grid, grid_sample  # noqa: F401
from .functions.padding import pad  # noqa: F401
from .functions.pooling import (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d,  # noqa: F401
                                adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, avg_pool1d, avg_pool2d,
                                avg_pool3d, max_pool1d, max_pool2d, max_pool3d, max_unpool1d, max_unpool2d, max_unpool3d)
from .functions.resampling import (channel_shuffle, interpolate, pixel_shuffle, pixel_unshuffle, upsample,  # noqa: F401
                                   upsample_bilinear, upsample_nearest)
from .functions.activations import *  # noqa: F403
from .functions.losses import *  # noqa: F403
from .functions.normalizations import *  # noqa: F403

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




def embedding(input, weight, padding_idx=None):
    """Rows of weight (V, D) at the integers `input` (…): shape (…, D), dtype of weight. The row padding_idx
    gets no gradient. IndexError for an index outside [-V, V)."""
    if padding_idx is not None and padding_idx < 0:
        if padding_idx < -weight.size(0):
            raise IndexError(f"embedding: padding_idx {padding_idx} is out of range for {weight.size(0)} rows")
        padding_idx += weight.size(0)
    return _F.embedding(weight, input, padding_idx)


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


__getattr__ = _absent("torch.nn.functional")
