"""Convolutions, pooling, padding and resampling beside their definitions, written out in NumPy in float64."""

import itertools
import math

import numpy as np
import pytest

import fuselet as fl
from cuda_marks import kernel_test
from fuselet.nn import functional as F

RNG = np.random.default_rng(0)


def pair(v):
    return (v, v) if isinstance(v, int) else tuple(v)


def convolved(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    """The definition: one sum of products for each output."""
    (sh, sw), (ph, pw), (dh, dw) = pair(stride), pair(padding), pair(dilation)
    x = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    o, c, kh, kw = w.shape
    height, width = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1, (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    out = np.zeros((x.shape[0], o, height, width))
    for k, y, z in itertools.product(range(o), range(height), range(width)):
        first = k // (o // groups) * c
        window = x[:, first:first + c, y * sh:y * sh + dh * (kh - 1) + 1:dh, z * sw:z * sw + dw * (kw - 1) + 1:dw]
        out[:, k, y, z] = (window * w[k]).sum((1, 2, 3)) + (0 if b is None else b[k])
    return out


def numbers(*shape):
    return RNG.standard_normal(shape)


CONVOLUTIONS = [dict(), dict(stride=2, padding=1), dict(dilation=(2, 1), padding=(2, 1)), dict(groups=2), dict(groups=4, stride=(1, 2)),
                dict(groups=2, dilation=2, padding=2, stride=2)]


@pytest.mark.parametrize("options", CONVOLUTIONS, ids=str)
def test_conv2d_and_its_transpose(options):
    groups = options.get("groups", 1)
    x, w, b = numbers(2, 4, 7, 8), numbers(8, 4 // groups, 3, 2), numbers(8)
    want = convolved(x, w, b, **options)
    tx, tw, tb = (fl.tensor(a, requires_grad=True) for a in (x, w, b))
    out = F.conv2d(tx, tw, tb, **options)
    np.testing.assert_allclose(out.detach().numpy(), want, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(F.conv2d(tx[0], tw, tb, **options).detach().numpy(), want[0], rtol=1e-10, atol=1e-10)
    # <conv(x), g> = <x, transpose(g)>, whatever rows the stride leaves over.
    g = fl.tensor(numbers(*want.shape))
    kernel, stride = (3, 2), pair(options.get("stride", 1))
    padding, dilation = pair(options.get("padding", 0)), pair(options.get("dilation", 1))
    left_over = [n - ((m - 1) * s - 2 * p + d * (k - 1) + 1) for n, m, s, p, d, k in
                 zip(x.shape[2:], want.shape[2:], stride, padding, dilation, kernel)]
    turned = F.conv_transpose2d(g, tw, None, stride, padding, left_over, groups, dilation)
    assert turned.shape == tx.shape
    bare = (F.conv2d(tx, tw, None, **options) * g).sum()
    np.testing.assert_allclose((turned * tx).sum().item(), bare.item(), rtol=1e-10)
    gx, gw = fl.autograd.grad(bare, (tx, tw))
    np.testing.assert_allclose(gx.numpy(), turned.detach().numpy(), rtol=1e-9, atol=1e-9)
    step = numbers(*w.shape)
    np.testing.assert_allclose((gw.numpy() * step).sum(), (convolved(x, step, **options) * g.numpy()).sum(), rtol=1e-9)


@kernel_test
@pytest.mark.parametrize("options", CONVOLUTIONS, ids=str)
def test_conv2d_on_the_device(options):
    x = fl.tensor(numbers(2, 4, 7, 8), dtype=fl.float32)
    w = fl.tensor(numbers(8, 4 // options.get("groups", 1), 3, 2), dtype=fl.float32)
    got = {}
    for device in ("cpu", "cuda"):
        tx, tw = (t.to(device).detach().requires_grad_() for t in (x, w))
        out = F.conv2d(tx, tw, **options)
        (out * out).sum().backward()
        got[device] = [t.detach().cpu().numpy() for t in (out, tx.grad, tw.grad)]
    for a, b in zip(got["cpu"], got["cuda"]):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_convolutions_over_one_and_three_dimensions():
    x, w, b = numbers(2, 4, 9), numbers(6, 2, 3), numbers(6)
    want = convolved(x[:, :, None], w[:, :, None], b, (1, 2), (0, 1), (1, 2), 2)[:, :, 0]
    t = fl.tensor
    np.testing.assert_allclose(F.conv1d(t(x), t(w), t(b), 2, 1, 2, 2).numpy(), want, rtol=1e-10)
    np.testing.assert_allclose(F.conv_transpose1d(t([[[1.0, 2.0]]]), t([[[1.0, 10.0, 100.0]]]), stride=2).numpy(), [[[1, 10, 102, 20, 200]]])
    x, w = numbers(2, 2, 4, 5, 5), numbers(3, 2, 2, 3, 3)
    want = sum(np.stack([convolved(x[:, :, 2 * d + k - 1] if 0 <= 2 * d + k - 1 < 4 else 0 * x[:, :, 0], w[:, :, k], None, 2, 1)
                         for d in range(3)], 2) for k in range(2))
    np.testing.assert_allclose(F.conv3d(t(x), t(w), stride=2, padding=1).numpy(), want, rtol=1e-9, atol=1e-9)


def test_transposed_volumes_and_wide_output_padding():
    """<conv(x), g> = <x, transpose(g)>; output_padding may reach beyond the stride where windows are dilated."""
    x, w = fl.tensor(numbers(2, 4, 5, 6, 5)), fl.tensor(numbers(6, 2, 2, 3, 2))
    options = dict(stride=(2, 1, 2), padding=(1, 1, 0), groups=2, dilation=(1, 2, 1))
    y = F.conv3d(x, w, **options)
    g = fl.tensor(numbers(*y.shape))
    turned = F.conv_transpose3d(g, w, None, output_padding=[n - m for n, m in zip(x.shape[2:], F.conv_transpose3d(g, w, None, **options).shape[2:])],
                                **options)
    assert turned.shape == x.shape
    np.testing.assert_allclose((turned * x).sum().item(), (y * g).sum().item(), rtol=1e-10)
    # Tap k of entry i falls on place 3 k + i - 1 of 6 + 2.
    one = F.conv_transpose1d(fl.tensor([[[1.0, 2.0]]]), fl.tensor([[[1.0, 10.0]]]), padding=1, output_padding=2, dilation=3)
    assert one.tolist() == [[[2, 0, 10, 20, 0]]]


def test_same_and_valid_padding():
    x, w = fl.tensor(numbers(1, 2, 6, 7)), fl.tensor(numbers(3, 2, 4, 3))
    out = F.conv2d(x, w, padding="same", dilation=(1, 2))
    assert tuple(out.shape) == (1, 3, 6, 7)
    want = convolved(np.pad(x.numpy(), ((0, 0), (0, 0), (1, 2), (2, 2))), w.numpy(), dilation=(1, 2))
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-10)
    assert tuple(F.conv1d(fl.ones(1, 1, 5), fl.ones(1, 1, 2), padding="same").shape) == (1, 1, 5)
    with pytest.raises(ValueError, match="stride 1"):
        F.conv2d(x, w, stride=2, padding="same")
    with pytest.raises(RuntimeError, match="3 outputs do not fall into 2 groups"):
        F.conv2d(x, w, groups=2)


def windows_of(size, kernel, stride, padding, dilation=1, ceil_mode=False):
    """The entries of each window, those in the padding left out; and the window's size with padding."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (math.ceil if ceil_mode else math.floor)(room / stride) + 1
    if (count - 1) * stride >= size + padding and ceil_mode:
        count -= 1
    starts = [i * stride - padding for i in range(count)]
    inside = [[s + k * dilation for k in range(kernel) if 0 <= s + k * dilation < size] for s in starts]
    return inside, [min(s + kernel, size + padding) - s for s in starts]


POOLS = [dict(kernel=2, stride=2, padding=0), dict(kernel=3, stride=2, padding=1), dict(kernel=3, stride=1, padding=1),
         dict(kernel=3, stride=2, padding=0, ceil_mode=True), dict(kernel=3, stride=3, padding=1, ceil_mode=True),
         dict(kernel=2, stride=5, padding=1, ceil_mode=True)]


@pytest.mark.parametrize("counts_padding", [True, False])
@pytest.mark.parametrize("options", POOLS, ids=str)
def test_pools(options, counts_padding):
    k, s, p, ceil = (options.get(n, False) for n in ("kernel", "stride", "padding", "ceil_mode"))
    x = numbers(2, 3, 7, 8)
    rows, row_sizes = windows_of(7, k, s, p, 1, ceil)
    columns, column_sizes = windows_of(8, k, s, p, 1, ceil)
    windows = [[x[:, :, r][..., c] for c in columns] for r in rows]
    t = fl.tensor(x, requires_grad=True)
    largest = F.max_pool2d(t, k, s, p, 1, ceil)
    np.testing.assert_array_equal(largest.detach().numpy(), np.stack([np.stack([w.max((2, 3)) for w in row], -1) for row in windows], -2))
    want = np.stack([np.stack([w.sum((2, 3)) / (n * m if counts_padding else len(r) * len(c)) for w, c, m in zip(row, columns, column_sizes)],
                              -1) for row, r, n in zip(windows, rows, row_sizes)], -2)
    means = F.avg_pool2d(t, k, s, p, ceil, counts_padding)
    np.testing.assert_allclose(means.detach().numpy(), want, rtol=1e-12)
    fl.autograd.gradcheck(lambda v: F.avg_pool2d(v, k, s, p, ceil, counts_padding), fl.tensor(x[:1, :1], requires_grad=True))
    if s == 1:
        np.testing.assert_allclose(F.avg_pool2d(t, k, s, p, divisor_override=2).detach().numpy() * 2,
                                   np.stack([np.stack([w.sum((2, 3)) for w in row], -1) for row in windows], -2), rtol=1e-12)


def test_pools_of_one_dimension_places_and_16_bits():
    x = fl.tensor([[[1.0, 5.0, 2.0, 7.0, 0.0]]])
    assert F.max_pool1d(x, 2).tolist() == [[[5, 7]]] and F.avg_pool1d(x, 2, ceil_mode=True).tolist() == [[[3, 4.5, 0]]]
    values, at = F.max_pool1d(x, 2, 2, return_indices=True)
    assert at.tolist() == [[[1, 3]]] and values.tolist() == [[[5, 7]]]
    assert F.max_pool1d(x, 2, 1, dilation=2).tolist() == [[[2, 7, 2]]]
    assert F.avg_pool2d(fl.full((1, 1, 2, 2), 40000.0, dtype=fl.float16), 2).item() == 40000
    with pytest.raises(RuntimeError, match="at most half"):
        F.avg_pool2d(fl.zeros(1, 1, 4, 4), 2, padding=2)


@pytest.mark.parametrize("size", [(1, 1), (3, 4), (2, 3), (5, None), (9, 2)], ids=str)
def test_adaptive_pools(size):
    x = numbers(2, 3, 6, 8)
    spans = [[(i * n // m, -(-(i + 1) * n // m)) for i in range(m)] for n, m in zip((6, 8), (size[0], size[1] or 8))]
    blocks = [[x[:, :, a:b, c:d] for c, d in spans[1]] for a, b in spans[0]]
    t = fl.tensor(x)
    np.testing.assert_allclose(F.adaptive_avg_pool2d(t, size).numpy(), np.stack([np.stack([b.mean((2, 3)) for b in r], -1) for r in blocks], -2),
                               rtol=1e-12)
    values, at = F.adaptive_max_pool2d(t, size, return_indices=True)
    np.testing.assert_array_equal(values.numpy(), np.stack([np.stack([b.max((2, 3)) for b in r], -1) for r in blocks], -2))
    np.testing.assert_array_equal(t.flatten(2).gather(2, at.flatten(2)).numpy(), values.flatten(2).numpy())
    fl.autograd.gradcheck(lambda v: F.adaptive_avg_pool2d(v, size), fl.tensor(x[:1, :1], requires_grad=True))
    assert F.adaptive_avg_pool1d(fl.tensor([[1.0, 2.0, 3.0]]), 2).tolist() == [[1.5, 2.5]]


def test_pools_of_volumes():
    """The largest element of each box, and its place; both are what the planes give where a box is one plane thick."""
    x = numbers(2, 3, 5, 6, 7)
    t = fl.tensor(x, requires_grad=True)
    values, at = F.max_pool3d(t, (2, 3, 2), 2, (1, 1, 0), ceil_mode=True, return_indices=True)
    boxes = [windows_of(n, k, 2, p, 1, True)[0] for n, k, p in zip((5, 6, 7), (2, 3, 2), (1, 1, 0))]
    want = np.empty(values.shape)
    for i, j, k in np.ndindex(*values.shape[2:]):
        want[:, :, i, j, k] = x[:, :, boxes[0][i]][:, :, :, boxes[1][j]][..., boxes[2][k]].max((2, 3, 4))
    np.testing.assert_array_equal(values.detach().numpy(), want)
    np.testing.assert_array_equal(np.take_along_axis(x.reshape(2, 3, -1), at.numpy().reshape(2, 3, -1), 2).reshape(want.shape), want)
    values, at = F.adaptive_max_pool3d(t, (2, 3, 2), return_indices=True)
    assert values[1, 2, 1, 0, 1].item() == x[1, 2, 2:5, 0:2, 3:7].max()
    np.testing.assert_allclose(F.adaptive_avg_pool3d(t, 1).detach().numpy().ravel(), x.mean((2, 3, 4)).ravel(), rtol=1e-12)
    fl.autograd.gradcheck(lambda v: F.max_pool3d(v, 2, 1), fl.tensor(x[:1, :1, :2, :3, :3], requires_grad=True))


def test_unpooling_puts_values_back():
    x = fl.tensor([[[1.0, 5.0, 2.0, 3.0]]], requires_grad=True)
    values, at = F.max_pool1d(x, 2, return_indices=True)
    assert F.max_unpool1d(values, at, 2).tolist() == [[[0, 5, 0, 3]]] and F.max_unpool1d(values, at, 2, output_size=(5,)).shape[-1] == 5
    # Two windows have the 5; the place's gradient is each one's.
    values, at = F.max_pool1d(x, 2, 1, return_indices=True)
    values = values.detach().requires_grad_()
    F.max_unpool1d(values, at, 2, 1).sum().backward()
    assert values.tolist() == [[[5, 5, 3]]] and values.grad.tolist() == [[[1, 1, 1]]]


def test_unfold_and_fold():
    x = numbers(2, 3, 5, 6)
    options = dict(dilation=(1, 2), padding=(1, 0), stride=(2, 1))
    columns = F.unfold(fl.tensor(x), (2, 3), **options)
    weight = numbers(4, 3, 2, 3)
    want = convolved(x, weight, None, (2, 1), (1, 0), (1, 2))
    np.testing.assert_allclose((fl.tensor(weight).flatten(1) @ columns).numpy().reshape(want.shape), want, rtol=1e-9, atol=1e-12)
    g = fl.tensor(numbers(*columns.shape))
    folded = F.fold(g, (5, 6), (2, 3), **options)
    np.testing.assert_allclose((folded * fl.tensor(x)).sum().item(), (g * columns).sum().item(), rtol=1e-10)
    assert F.fold(F.unfold(fl.ones(1, 1, 3, 3), 2), (3, 3), 2).tolist() == [[[[1, 2, 1], [2, 4, 2], [1, 2, 1]]]]


@pytest.mark.parametrize("mode, numpys", [("constant", "constant"), ("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
def test_pad(mode, numpys):
    x = numbers(2, 3, 4, 5)
    counts = (2, 1, 0, 3)
    got = F.pad(fl.tensor(x), counts, mode)
    np.testing.assert_array_equal(got.numpy(), np.pad(x, ((0, 0), (0, 0), (0, 3), (2, 1)), numpys))
    fl.autograd.gradcheck(lambda t: F.pad(t, counts, mode), fl.tensor(x[0, 0], requires_grad=True))


def test_pad_cuts_fills_and_refuses():
    x = fl.tensor([[1, 2, 3]])
    assert F.pad(x, (-1, 2), value=9).tolist() == [[2, 3, 9, 9]]
    assert F.pad(fl.tensor([True]), (1, 0)).tolist() == [False, True]
    with pytest.raises(RuntimeError, match="at most 2 entries"):
        F.pad(x, (3, 0), "reflect")
    with pytest.raises(RuntimeError, match="pairs"):
        F.pad(x, (1, 2, 3))


def test_interpolate():
    """By hand: places (i + 0.5) / scale - 0.5, or between the outermost centres with align_corners."""
    x = fl.tensor([[[0.0, 4.0, 8.0]]], dtype=fl.float64)
    assert F.interpolate(x, 6).tolist() == [[[0, 0, 4, 4, 8, 8]]] and F.interpolate(x, 2).tolist() == [[[0, 4]]]
    assert F.interpolate(x, 2, mode="nearest-exact").tolist() == [[[0, 8]]]
    assert F.interpolate(x, 6, mode="linear").tolist() == [[[0, 1, 3, 5, 7, 8]]]
    assert F.interpolate(x, 5, mode="linear", align_corners=True).tolist() == [[[0, 2, 4, 6, 8]]]
    assert F.interpolate(x, scale_factor=1.5, mode="linear").shape[-1] == 4
    plane = fl.tensor([[[[0.0, 1.0], [2.0, 3.0]]]], dtype=fl.float64)
    assert F.interpolate(plane, (3, 3), mode="bilinear", align_corners=True).tolist() == [[[[0, 0.5, 1], [1, 1.5, 2], [2, 2.5, 3]]]]
    assert F.interpolate(plane, scale_factor=2).tolist() == [[[[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]]]
    assert F.interpolate(plane, 1, mode="area").tolist() == [[[[1.5]]]]
    # Keys' cubic reproduces straight lines away from the edges, and weighs (-0.09375, 0.59375, …) at the middle.
    line = fl.arange(8.0, dtype=fl.float64).view(1, 1, 1, 8)
    np.testing.assert_allclose(F.interpolate(line, (1, 15), mode="bicubic", align_corners=True)[0, 0, 0, 2:13].numpy(), np.arange(1, 6.5, 0.5))
    dot = fl.tensor([0.0, 0, 0, 1, 0, 0], dtype=fl.float64).view(1, 1, 1, 6)
    np.testing.assert_allclose(F.interpolate(dot, (1, 11), mode="bicubic", align_corners=True)[0, 0, 0].numpy(),
                               [0, 0, 0, -0.09375, 0, 0.59375, 1, 0.59375, 0, -0.09375, 0], atol=1e-15)
    for mode in ("nearest", "bilinear", "bicubic"):
        fl.autograd.gradcheck(lambda t: F.interpolate(t, (5, 3), mode=mode), fl.tensor(numbers(1, 1, 3, 4), requires_grad=True))
    # 1/49 of 49 is no whole number in floating point.
    assert F.interpolate(fl.arange(7.0).view(1, 1, 7), 343)[0, 0, 49].item() == 1
    with pytest.raises(ValueError, match="either size or scale_factor"):
        F.interpolate(x)


def test_shuffles():
    x = fl.arange(8).view(1, 4, 1, 2)
    assert F.pixel_shuffle(x, 2).tolist() == [[[[0, 2, 1, 3], [4, 6, 5, 7]]]]
    assert fl.equal(F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2), x)
    assert F.channel_shuffle(x, 2)[0, :, 0, 0].tolist() == [0, 4, 2, 6]


def test_grid_sample():
    x = fl.tensor(numbers(1, 2, 3, 4))
    for align in (True, False):
        grid = F.affine_grid(fl.tensor([[[1.0, 0, 0], [0, 1, 0]]], dtype=fl.float64), (1, 2, 3, 4), align)
        np.testing.assert_allclose(F.grid_sample(x, grid, align_corners=align).numpy(), x.numpy(), atol=1e-12)
    plane = fl.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])

    def at(px, py, **options):
        return round(F.grid_sample(plane, fl.tensor([[[[px, py]]]]), align_corners=True, **options).item(), 5)

    assert at(0.0, 0.0) == 2.5 and at(-1.0, 1.0) == 3 and at(3.0, -1.0) == 0 and at(2.0, -1.0) == 1
    assert at(3.0, -1.0, padding_mode="border") == 2 and at(2.0, -1.0, padding_mode="reflection") == 1.5
    assert at(0.6, -0.9, mode="nearest") == 2
    assert at(0.0, 0.0, mode="bicubic", padding_mode="border") == 2.5
    volume = fl.tensor(numbers(2, 3, 2, 3, 4))
    same = F.affine_grid(fl.eye(3, 4, dtype=fl.float64).expand(2, 3, 4), volume.shape)
    np.testing.assert_allclose(F.grid_sample(volume, same).numpy(), volume.numpy(), atol=1e-12)
    grid = fl.tensor([[[[0.3, -0.2], [0.55, 0.4]]]], dtype=fl.float64, requires_grad=True)
    fl.autograd.gradcheck(lambda v, g: F.grid_sample(v, g, align_corners=False), (x.requires_grad_(), grid))


def test_compiled_windows_are_the_same():
    """One program: each function beside its eager value."""
    x, w = fl.tensor(numbers(2, 4, 6, 8), dtype=fl.float32), fl.tensor(numbers(4, 2, 3, 3), dtype=fl.float32)

    def f(x, w):
        return [F.conv2d(x, w, padding=2, dilation=2, groups=2), F.conv_transpose2d(x, w, stride=2, groups=2), F.avg_pool2d(x, 3, 2, 1),
                F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, (4, 3)), F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.pad(x, (1, 2), "reflect"),
                F.interpolate(x, (9, 5), mode="bilinear"), F.interpolate(x, scale_factor=2), F.unfold(x, 3, padding=1),
                F.pixel_shuffle(x, 2), F.adaptive_max_pool2d(x, 2)]

    for got, want in zip(fl.compile(f)(x, w), f(x, w)):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-6, atol=1e-6)


@kernel_test
def test_windows_on_the_device():
    x = fl.tensor(numbers(2, 4, 6, 8), dtype=fl.float32)
    for f in (lambda x: F.avg_pool2d(x, 3, 2, 1), lambda x: F.adaptive_avg_pool2d(x, (4, 3)), lambda x: F.pad(x, (1, 2), "reflect"),
              lambda x: F.max_pool2d(x, 3, 2, 1, 2, ceil_mode=True), lambda x: F.interpolate(x, (9, 5), mode="bicubic")):
        np.testing.assert_allclose(f(x.cuda()).cpu().numpy(), f(x).numpy(), rtol=1e-6, atol=1e-6)
