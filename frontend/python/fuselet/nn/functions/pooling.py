"""Pooling: windows that slide, and windows that share a plane out evenly."""

from __future__ import annotations

from ... import _C, composed
from .convolutions import _batched, _tuple

_F = _C.functions


# ---- largest elements
def _max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    stride = [] if stride is None else stride

    def apply(x):
        if not return_indices:
            return _F.max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode)
        return _F.max_pool2d_with_indices(x, kernel_size, stride, padding, dilation, ceil_mode)

    if input.dim() == 3 and return_indices:
        return tuple(part.squeeze(0) for part in apply(input.unsqueeze(0)))
    return apply(input) if return_indices else _batched(input, 2, "max_pool2d", apply)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """Largest element of each window of (N, C, H, W) or (C, H, W): (…, C, H', W') with H' = floor((H + 2 padding - dilation
    (kernel - 1) - 1) / stride) + 1, or the ceiling, where a window then still begins inside. Sizes are a number or a pair
    (height, width); stride defaults to kernel_size, and padding is at most half of it. NaN wins. return_indices: also
    the int64 places in the flattened plane. RuntimeError for other shapes or an empty result."""
    return _max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """max_pool2d over one dimension: (N, C, L) or (C, L) -> (…, C, L')."""
    kernel, padding, dilation = (_tuple(v, 1, "max_pool1d", "a size") for v in (kernel_size, padding, dilation))
    step = kernel if stride is None else _tuple(stride, 1, "max_pool1d", "stride")
    if input.dim() not in (2, 3):
        raise RuntimeError(f"max_pool1d: expected (N, C, L) or (C, L), got {list(input.shape)}")
    pooled = _max_pool2d(input.unsqueeze(-2), (1, *kernel), (1, *step), (0, *padding), (1, *dilation), ceil_mode, return_indices)
    return tuple(part.squeeze(-2) for part in pooled) if return_indices else pooled.squeeze(-2)


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
    stride = kernel if stride is None or stride == [] else _tuple(stride, n, name, "stride")
    if divisor_override is not None and divisor_override <= 0:
        raise RuntimeError(f"{name}: the divisor must be positive, got {divisor_override}")

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


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The largest elements of the windows of adaptive_avg_pool2d; return_indices: also their places in the flattened plane."""

    def apply(x):
        height, width = x.shape[2:]
        (top, bottom, rows), (left, right, columns) = (_shares(size, count, x.device) for size, count in zip(
            (height, width), _sizes_of(output_size, (height, width), "adaptive_max_pool2d")))
        # A window's last entry again instead of what lies beyond it.
        down = _F.minimum(top.unsqueeze(1) + _F.arange(rows, device=x.device), bottom.unsqueeze(1) - 1)
        across = _F.minimum(left.unsqueeze(1) + _F.arange(columns, device=x.device), right.unsqueeze(1) - 1)
        places = (down * width).unsqueeze(1).unsqueeze(3) + across.unsqueeze(1)  # (OH, OW, rows, columns)
        places = places.flatten(2)
        windows = x.flatten(2).index_select(2, places.view(-1)).unflatten(2, list(places.shape))
        best = windows.detach().argmax(-1, True)
        at = places.expand(windows.shape).gather(-1, best).squeeze(-1)
        return windows.gather(-1, best).squeeze(-1), at

    if input.dim() not in (3, 4):
        raise RuntimeError(f"adaptive_max_pool2d: expected (N, C, H, W) or (C, H, W), got {list(input.shape)}")
    values, at = apply(input if input.dim() == 4 else input.unsqueeze(0))
    if input.dim() == 3:
        values, at = values.squeeze(0), at.squeeze(0)
    return (values, at) if return_indices else values


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """adaptive_max_pool2d over one dimension: (N, C, L) or (C, L) -> (…, C, output_size)."""
    size = _tuple(output_size, 1, "adaptive_max_pool1d", "output_size")
    values, at = adaptive_max_pool2d(input.unsqueeze(-2), (1, *size), True)
    return (values.squeeze(-2), at.squeeze(-2)) if return_indices else values.squeeze(-2)
