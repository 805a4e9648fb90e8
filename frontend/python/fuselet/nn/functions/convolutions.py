"""Convolutions and their transposes over one, two and three dimensions, in terms of conv2d; windows as columns."""

from __future__ import annotations

import math

from ... import _C
from .padding import pad

_F = _C.functions


def _tuple(value, n, name, what):
    numbers = (value,) * n if isinstance(value, int) else tuple(value)
    if len(numbers) == 1:
        numbers *= n
    if len(numbers) != n:
        raise RuntimeError(f"{name}: {what} must be one number or {n}, got {value}")
    return numbers


def _batched(input, n, name, apply):
    """apply(input), which takes (N, C, …), also for one (C, …)."""
    if input.dim() not in (n + 1, n + 2):
        axes = {1: "L", 2: "H, W", 3: "D, H, W"}[n]
        raise RuntimeError(f"{name}: expected input (N, C, {axes}) or (C, {axes}), got shape {list(input.shape)}")
    return apply(input) if input.dim() == n + 2 else apply(input.unsqueeze(0)).squeeze(0)


def _padded(input, weight, stride, padding, dilation, n, name):
    """The input and the padding that conv takes, for 'same' and 'valid' too."""
    if not isinstance(padding, str):
        return input, _tuple(padding, n, name, "padding")
    if padding == "valid":
        return input, (0,) * n
    if padding != "same":
        raise ValueError(f"{name}: padding must be 'valid', 'same' or numbers, got {padding!r}")
    if any(s != 1 for s in stride):
        raise ValueError(f"{name}: padding='same' needs stride 1, got {stride}")
    # Where the total is odd, one entry more comes behind.
    totals = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:])]
    if any(total % 2 for total in totals):
        input = pad(input, [count for total in reversed(totals) for count in (0, total % 2)])
    return input, tuple(total // 2 for total in totals)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of input (N, C, L) or (C, L) with weight (O, C/groups, K), plus bias (O): (N, O, L') with
    L' = floor((L + 2 padding - dilation (K - 1) - 1) / stride) + 1. Arguments as for conv2d."""
    stride, dilation = _tuple(stride, 1, "conv1d", "stride"), _tuple(dilation, 1, "conv1d", "dilation")

    def apply(x):
        x, (before,) = _padded(x, weight, stride, padding, dilation, 1, "conv1d")
        return _F.conv2d(x.unsqueeze(2), weight.unsqueeze(2), bias, (1, *stride), (0, before), (1, *dilation), groups).squeeze(2)

    return _batched(input, 1, "conv1d", apply)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of input (N, C, H, W) or (C, H, W) with weight (O, C/groups, KH, KW), plus bias (O): shape
    (N, O, H', W') or (O, H', W') with H' = floor((H + 2 padding - dilation (KH - 1) - 1) / stride) + 1.

    stride, padding and dilation are a number or a pair. padding='valid' is 0; 'same' keeps H and W, for stride 1. With
    groups, channels and outputs fall into that many groups, each of which meets its own only. RuntimeError for other
    shapes or dtypes."""
    stride, dilation = _tuple(stride, 2, "conv2d", "stride"), _tuple(dilation, 2, "conv2d", "dilation")

    def apply(x):
        x, around = _padded(x, weight, stride, padding, dilation, 2, "conv2d")
        return _F.conv2d(x, weight, bias, stride, around, dilation, groups)

    return _batched(input, 2, "conv2d", apply)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of input (N, C, D, H, W) or (C, D, H, W) with weight (O, C/groups, KD, KH, KW), plus bias (O).
    Arguments as for conv2d."""
    stride, dilation = _tuple(stride, 3, "conv3d", "stride"), _tuple(dilation, 3, "conv3d", "dilation")

    def apply(x):
        x, (depth, *around) = _padded(x, weight, stride, padding, dilation, 3, "conv3d")
        x = pad(x, (0, 0, 0, 0, depth, depth))
        count = (x.size(2) - dilation[0] * (weight.size(2) - 1) - 1) // stride[0] + 1
        if count <= 0:
            raise RuntimeError(f"conv3d: weight of shape {list(weight.shape)} does not fit into input {list(input.shape)}")
        # The taps of D as channels beside C: (N, C, count, KD, H, W) -> (N count, C KD, H, W).
        planes = _windows(x.narrow(2, 0, (count - 1) * stride[0] + dilation[0] * (weight.size(2) - 1) + 1), 2, weight.size(2),
                          dilation[0], stride[0])
        images = planes.transpose(1, 2).flatten(0, 1).flatten(1, 2)
        out = _F.conv2d(images, weight.flatten(1, 2), bias, stride[1:], around, dilation[1:], groups)
        return out.unflatten(0, (x.size(0), count)).transpose(1, 2)

    return _batched(input, 3, "conv3d", apply)


def _transposed_sizes(input, weight, stride, padding, output_padding, dilation, name):
    sizes = []
    for n, k, s, p, extra, d in zip(input.shape[2:], weight.shape[2:], stride, padding, output_padding, dilation):
        if not 0 <= extra < max(s, d):
            raise RuntimeError(f"{name}: output_padding must be smaller than stride or dilation, got {output_padding}")
        sizes.append((n - 1) * s - 2 * p + d * (k - 1) + extra + 1)
    if min(sizes) <= 0:
        raise RuntimeError(f"{name}: input of shape {list(input.shape)} gives the size {sizes}")
    return sizes


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The gradient of conv2d for its input, as a layer: input (N, C, H, W) or (C, H, W), weight (C, O/groups, KH, KW),
    bias (O) -> (N, O, H', W') with H' = (H - 1) stride - 2 padding + dilation (KH - 1) + output_padding + 1."""
    stride, padding, output_padding, dilation = (_tuple(v, 2, "conv_transpose2d", "a size") for v in
                                                 (stride, padding, output_padding, dilation))

    def apply(x):
        if weight.dim() != 4 or x.size(1) != weight.size(0):
            raise RuntimeError(f"conv_transpose2d: input of shape {list(x.shape)} has {x.size(1)} channels, weight of shape "
                               f"{list(weight.shape)} expects (C, O/groups, KH, KW)")
        sizes = _transposed_sizes(x, weight, stride, padding, output_padding, dilation, "conv_transpose2d")
        lead = [x.size(0), weight.size(1) * groups]
        gradient = _C.internal.conv2d_input_grad
        if all(extra < s for extra, s in zip(output_padding, stride)):
            out = gradient(x, weight, lead + sizes, stride, padding, dilation, groups)
        else:  # a convolution of that size would have another place more: all that there is, then cut and filled up
            whole = [n + 2 * p - extra for n, p, extra in zip(sizes, padding, output_padding)]
            out = gradient(x, weight, lead + whole, stride, (0, 0), dilation, groups)
            out = pad(out, [count for p, extra in zip(reversed(padding), reversed(output_padding)) for count in (-p, extra - p)])
        return out if bias is None else out + bias.view(-1, 1, 1)

    return _batched(input, 2, "conv_transpose2d", apply)


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """conv_transpose2d over one dimension: input (N, C, L) or (C, L), weight (C, O/groups, K), bias (O) -> (N, O, L')."""
    stride, padding, output_padding, dilation = (_tuple(v, 1, "conv_transpose1d", "a size") for v in
                                                 (stride, padding, output_padding, dilation))

    def apply(x):
        return conv_transpose2d(x.unsqueeze(2), weight.unsqueeze(2), bias, (1, *stride), (0, *padding), (0, *output_padding),
                                groups, (1, *dilation)).squeeze(2)

    return _batched(input, 1, "conv_transpose1d", apply)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """conv_transpose2d over three dimensions: input (N, C, D, H, W) or (C, D, H, W), weight (C, O/groups, KD, KH, KW), bias (O).
    The taps of D are outputs beside O, added up where they fall."""
    stride, padding, output_padding, dilation = (_tuple(v, 3, "conv_transpose3d", "a size") for v in
                                                 (stride, padding, output_padding, dilation))

    def apply(x):
        depth = _transposed_sizes(x, weight, stride, padding, output_padding, dilation, "conv_transpose3d")[0]
        (n, _, planes), outputs, taps = x.shape[:3], weight.size(1) * groups, weight.size(2)
        images = conv_transpose2d(x.transpose(1, 2).flatten(0, 1), weight.flatten(1, 2), None, stride[1:], padding[1:],
                                  output_padding[1:], groups, dilation[1:])
        parts = images.unflatten(1, (outputs, taps)).unflatten(0, (n, planes))  # (N, D, O, KD, H', W')
        parts = parts.permute(0, 2, 1, 3, 4, 5).flatten(2, 3)
        at = (_F.arange(planes, device=x.device) * stride[0]).unsqueeze(1) + _F.arange(taps, device=x.device) * dilation[0]
        whole = max((planes - 1) * stride[0] + dilation[0] * (taps - 1) + 1, padding[0] + depth)
        out = _F.zeros([n, outputs, whole, *parts.shape[3:]], dtype=x.dtype, device=x.device).index_add(2, at.view(-1), parts)
        out = out.narrow(2, padding[0], depth)
        return out if bias is None else out + bias.view(-1, 1, 1, 1)

    return _batched(input, 3, "conv_transpose3d", apply)


# ---- windows as columns
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Windows as columns: (N, C, H, W) or (C, H, W) -> (N, C KH KW, windows), windows in row-major order of their places."""
    (kernel, dilation, padding, stride) = (_tuple(v, 2, "unfold", "a size") for v in (kernel_size, dilation, padding, stride))

    def apply(x):
        x = pad(x, (padding[1], padding[1], padding[0], padding[0]))
        for dim, k, d, s in zip((2, 4), kernel, dilation, stride):
            x = _windows(x, dim, k, d, s)  # (N, C, H', KH, W) -> (N, C, H', KH, W', KW)
        return x.permute(0, 1, 3, 5, 2, 4).reshape(x.size(0), x.size(1) * kernel[0] * kernel[1], x.size(2) * x.size(4))

    return _batched(input, 2, "unfold", apply)


def _windows(x, dim, kernel, dilation, stride):
    """Dimension `dim` as (windows, kernel)."""
    count = (x.size(dim) - dilation * (kernel - 1) - 1) // stride + 1
    if count <= 0:
        raise RuntimeError(f"unfold: a window of {kernel} elements does not fit into dimension {dim} of shape {list(x.shape)}")
    if stride == kernel and dilation == 1:
        return x.narrow(dim, 0, count * kernel).unflatten(dim, (count, kernel))
    places = (_F.arange(count, device=x.device) * stride).unsqueeze(1) + _F.arange(kernel, device=x.device) * dilation
    return x.index_select(dim, places.view(-1)).unflatten(dim, (count, kernel))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns (N, C KH KW, windows) added up where their windows lie: (N, C, H, W) of `output_size`; the gradient of unfold."""
    (output, kernel, dilation, padding, stride) = (_tuple(v, 2, "fold", "a size") for v in
                                                   (output_size, kernel_size, dilation, padding, stride))
    counts = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, p, d, k, s in zip(output, padding, dilation, kernel, stride)]

    def apply(x):
        taps = kernel[0] * kernel[1]
        if x.size(1) % taps or x.size(2) != math.prod(counts):
            raise RuntimeError(f"fold: {list(x.shape)} is not (N, C {taps}, {math.prod(counts)})")
        channels = x.size(1) // taps
        # Each tap is an output of one group a channel: a convolution with a weight that picks it, turned round.
        picks = (_F.arange(taps, device=x.device).unsqueeze(1) == _F.arange(taps, device=x.device)).to(x.dtype)
        weight = picks.view(taps, 1, *kernel).repeat(channels, 1, 1, 1)
        size = [x.size(0), channels, *output]
        return _C.internal.conv2d_input_grad(x.unflatten(2, counts), weight, size, stride, padding, dilation, channels)

    return _batched(input, 1, "fold", apply)
