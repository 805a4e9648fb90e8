"""Pooling: windows that slide, and windows that share a plane out evenly."""

from __future__ import annotations

import math

from ... import _C, composed
from .convolutions import _batched, _tuple

_F = _C.functions


# ---- largest elements
def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """Largest element of each window of (N, C, H, W) or (C, H, W): (…, C, H', W') with H' = floor((H + 2 padding - dilation
    (kernel - 1) - 1) / stride) + 1, or the ceiling, where a window then still begins inside. Sizes are a number or a pair
    (height, width); stride defaults to kernel_size, and padding is at most half of it. NaN wins. return_indices: also
    the int64 places in the flattened plane. RuntimeError for other shapes or an empty result."""
    stride = [] if stride is None else stride

    def apply(x):
        return _F.max_pool2d_with_indices(x, kernel_size, stride, padding, dilation, ceil_mode)

    if return_indices:
        return _with_indices(input, 2, True, "max_pool2d", apply)
    return _batched(input, 2, "max_pool2d", lambda x: _F.max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode))


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """max_pool2d over one dimension: (N, C, L) or (C, L) -> (…, C, L')."""
    kernel, padding, dilation = (_tuple(v, 1, "max_pool1d", "a size") for v in (kernel_size, padding, dilation))
    step = kernel if stride is None else _tuple(stride, 1, "max_pool1d", "stride")
    if input.dim() not in (2, 3):
        raise RuntimeError(f"max_pool1d: expected (N, C, L) or (C, L), got {list(input.shape)}")
    pooled = max_pool2d(input.unsqueeze(-2), (1, *kernel), (1, *step), (0, *padding), (1, *dilation), ceil_mode, return_indices)
    return tuple(part.squeeze(-2) for part in pooled) if return_indices else pooled.squeeze(-2)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """max_pool2d over three dimensions, plane by plane and then across planes: (N, C, D, H, W) or (C, D, H, W)."""
    kernel, padding, dilation = (_tuple(v, 3, "max_pool3d", "a size") for v in (kernel_size, padding, dilation))
    step = kernel if stride is None or stride in ([], ()) else _tuple(stride, 3, "max_pool3d", "stride")

    def apply(x):
        n, depth, area = x.size(0), x.size(2), x.size(3) * x.size(4)
        planes = _F.max_pool2d_with_indices(x.transpose(1, 2).flatten(0, 1), kernel[1:], step[1:], padding[1:], dilation[1:], ceil_mode)
        reach = dilation[0] * (kernel[0] - 1) + 1
        count = _counted_windows(depth, reach, step[0], padding[0], ceil_mode, "max_pool3d")
        places = (_F.arange(count, device=x.device) * step[0] - padding[0]).unsqueeze(1) + _F.arange(kernel[0], device=x.device) * dilation[0]
        inside = _F.logical_and(places >= 0, places < depth).view(count, kernel[0], 1, 1)
        places = places.clamp(0, depth - 1)
        values, at = (part.unflatten(0, (n, depth)).transpose(1, 2).index_select(2, places.view(-1)).unflatten(2, (count, kernel[0]))
                      for part in planes)
        at = at + (places * area).view(count, kernel[0], 1, 1)
        best = _F.where(inside, values.detach(), -math.inf).argmax(3, True)
        return values.gather(3, best).squeeze(3), at.gather(3, best).squeeze(3)

    return _with_indices(input, 3, return_indices, "max_pool3d", apply)


def _max_unpool(input, indices, n, kernel_size, stride, padding, output_size, name):
    kernel, padding = _tuple(kernel_size, n, name, "kernel_size"), _tuple(padding, n, name, "padding")
    step = kernel if stride is None or stride in ([], ()) else _tuple(stride, n, name, "stride")
    sizes = [(size - 1) * s - 2 * p + k for size, s, p, k in zip(input.shape[-n:], step, padding, kernel)]
    if output_size is not None:
        sizes = list(output_size)[-n:]
    if tuple(indices.shape) != tuple(input.shape) or input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"{name}: expected input and indices (N, C, …) of one shape, got {list(input.shape)} and {list(indices.shape)}")
    lead = list(input.shape[:-n])
    flat = _F.zeros(lead + [math.prod(sizes)], dtype=input.dtype, device=input.device)
    places, values = indices.flatten(-n), input.flatten(-n)
    out = _F.scatter(flat, -1, places, values.detach())
    if values.requires_grad:
        # Where windows overlap, equal values share a place: each of them has its whole gradient.
        out = _F.scatter_add(out, -1, places, values - values.detach())
    return out.view(lead + sizes)


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """max_unpool2d over one dimension."""
    return _max_unpool(input, indices, 1, kernel_size, stride, padding, output_size, "max_unpool1d")


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The values of max_pool2d at the places that it gives, 0 elsewhere: sizes (in - 1) stride - 2 padding + kernel, or
    output_size."""
    return _max_unpool(input, indices, 2, kernel_size, stride, padding, output_size, "max_unpool2d")


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """max_unpool2d over three dimensions."""
    return _max_unpool(input, indices, 3, kernel_size, stride, padding, output_size, "max_unpool3d")


# ---- means
def _counted_windows(size, kernel, stride, padding, ceil_mode, name):
    if kernel <= 0 or stride <= 0 or not 0 <= 2 * padding <= kernel:
        raise RuntimeError(f"{name}: kernel and stride must be positive and padding at most half of the kernel, got {kernel}, "
                           f"{stride} and {padding}")
    room = size + 2 * padding - kernel
    if room < 0:
        raise RuntimeError(f"{name}: a window of {kernel} does not fit into {size} elements padded by {padding}")
    count = -(-room // stride) + 1 if ceil_mode else room // stride + 1
    return count - 1 if (count - 1) * stride >= size + padding else count


def _sum_windows(x, dim, starts, ends, most):
    """Sums of x's entries [starts[i], ends[i]) along dim, at most `most` each; starts and ends are int64 vectors."""
    places = starts.unsqueeze(1) + _F.arange(most, device=x.device)
    inside = _F.logical_and(places < ends.unsqueeze(1), places >= 0)
    windows = x.index_select(dim, places.clamp(0, x.size(dim) - 1).view(-1)).unflatten(dim, list(places.shape))
    shape = [1] * windows.dim()
    shape[dim], shape[dim + 1] = places.shape
    return _F.where(inside.view(shape), windows, 0).sum(dim + 1)


def _avg_pool(input, n, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, name):
    kernel, padding = _tuple(kernel_size, n, name, "kernel_size"), _tuple(padding, n, name, "padding")
    stride = kernel if stride is None or stride in ([], ()) else _tuple(stride, n, name, "stride")
    if divisor_override == 0:
        raise RuntimeError(f"{name}: the divisor must not be 0")

    def apply(x):
        sizes = x.shape[2:]
        counts = [_counted_windows(*numbers, ceil_mode, name) for numbers in zip(sizes, kernel, stride, padding)]
        total, divisor = composed._wide(x), None
        for dim, size, k, s, p, count in reversed(list(zip(range(2, 2 + n), sizes, kernel, stride, padding, counts))):
            if s == k and p == 0 and count * k <= size:
                total = total.narrow(dim, 0, count * k).unflatten(dim, (count, k)).sum(dim + 1)
                covered = k
            else:
                starts = _F.arange(count, device=x.device) * s - p
                ends = _F.minimum(starts + k, size + p)
                total = _sum_windows(total, dim, starts, ends.clamp(max=size), k)
                covered = ends - starts if count_include_pad else ends.clamp(max=size) - starts.clamp(min=0)
                covered = covered.view([-1] + [1] * (1 + n - dim))
            divisor = covered if divisor is None else divisor * covered
        return composed._narrow(total / (divisor if divisor_override is None else divisor_override), x)

    return _batched(input, n, name, apply)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """avg_pool2d over one dimension: (N, C, L) or (C, L) -> (…, C, L')."""
    return _avg_pool(input, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, None, "avg_pool1d")


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """Mean of each window of (N, C, H, W) or (C, H, W), in sizes as max_pool2d without dilation. Padding counts as zeros, or
    not at all without count_include_pad; what lies beyond the padding never counts; divisor_override divides instead.
    16-bit numbers are summed in float32."""
    return _avg_pool(input, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, "avg_pool2d")


def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """avg_pool2d over three dimensions: (N, C, D, H, W) or (C, D, H, W)."""
    return _avg_pool(input, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, "avg_pool3d")


# ---- a given number of windows
def _shares(size, count, device):
    """Starts and ends of `count` windows that share `size` entries out, and the longest one's length."""
    number = _F.arange(count, device=device)
    most = max((-(-(i + 1) * size // count) - i * size // count for i in range(count)), default=1)
    return number * size // count, ((number + 1) * size + count - 1) // count, most


def _sizes_of(output_size, sizes, name):
    wanted = _tuple(output_size, len(sizes), name, "output_size") if output_size is not None else (None,) * len(sizes)
    wanted = [size if n is None else n for n, size in zip(wanted, sizes)]
    if any(n < 0 for n in wanted) or any(size == 0 for size in sizes):
        raise RuntimeError(f"{name}: {wanted} windows cannot share out {list(sizes)} entries")
    return wanted


def _adaptive_avg_pool(input, n, output_size, name):
    def apply(x):
        total = composed._wide(x)
        for dim, count in zip(range(2, 2 + n), _sizes_of(output_size, x.shape[2:], name)):
            size = x.size(dim)
            if count and size % count == 0:
                total = total.unflatten(dim, (count, size // count)).mean(dim + 1)
                continue
            starts, ends, most = _shares(size, count, x.device)
            covered = (ends - starts).view([-1] + [1] * (1 + n - dim))
            total = _sum_windows(total, dim, starts, ends, most) / covered
        return composed._narrow(total, x)

    return _batched(input, n, name, apply)


def adaptive_avg_pool1d(input, output_size):
    """adaptive_avg_pool2d over one dimension: (N, C, L) or (C, L) -> (…, C, output_size)."""
    return _adaptive_avg_pool(input, 1, output_size, "adaptive_avg_pool1d")


def adaptive_avg_pool2d(input, output_size):
    """Means of output_size windows that share the plane out: (N, C, H, W) or (C, H, W) -> (…, C, OH, OW). Window i of O over H
    entries is [floor(i H / O), ceil((i + 1) H / O)); None keeps a size. 16-bit numbers are summed in float32."""
    return _adaptive_avg_pool(input, 2, output_size, "adaptive_avg_pool2d")


def adaptive_avg_pool3d(input, output_size):
    """adaptive_avg_pool2d over three dimensions: (N, C, D, H, W) or (C, D, H, W)."""
    return _adaptive_avg_pool(input, 3, output_size, "adaptive_avg_pool3d")


def _adaptive_max_pool(input, n, output_size, return_indices, name):
    def apply(x):
        flat = None
        for axis, (size, count) in enumerate(zip(x.shape[2:], _sizes_of(output_size, x.shape[2:], name))):
            starts, ends, most = _shares(size, count, x.device)
            # A window's last entry again instead of what lies beyond it.
            at = _F.minimum(starts.unsqueeze(1) + _F.arange(most, device=x.device), ends.unsqueeze(1) - 1)
            at = at.view([count if d == axis else most if d == n + axis else 1 for d in range(2 * n)])
            flat = at if flat is None else flat * size + at
        places = flat.flatten(n)  # (outputs…, entries of a window)
        windows = x.flatten(2).index_select(2, places.view(-1)).unflatten(2, list(places.shape))
        best = windows.detach().argmax(-1, True)
        return windows.gather(-1, best).squeeze(-1), places.expand(windows.shape).gather(-1, best).squeeze(-1)

    return _with_indices(input, n, return_indices, name, apply)


def _with_indices(input, n, return_indices, name, apply):
    """apply(input), which gives values and places of (N, C, …), also for one (C, …)."""
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"{name}: expected input of {n + 1} or {n + 2} dimensions, got shape {list(input.shape)}")
    values, at = apply(input if input.dim() == n + 2 else input.unsqueeze(0))
    if input.dim() == n + 1:
        values, at = values.squeeze(0), at.squeeze(0)
    return (values, at) if return_indices else values


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The largest elements of the windows of adaptive_avg_pool2d; return_indices: also their places in the flattened plane."""
    return _adaptive_max_pool(input, 2, output_size, return_indices, "adaptive_max_pool2d")


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """adaptive_max_pool2d over three dimensions: (N, C, D, H, W) or (C, D, H, W)."""
    return _adaptive_max_pool(input, 3, output_size, return_indices, "adaptive_max_pool3d")


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """adaptive_max_pool2d over one dimension: (N, C, L) or (C, L) -> (…, C, output_size)."""
    return _adaptive_max_pool(input, 1, output_size, return_indices, "adaptive_max_pool1d")
