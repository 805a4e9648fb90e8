"""scaled_dot_product_attention beside its definition in float64, and the rows that see nothing."""

import numpy as np
import pytest

import fuselet as fl
from fuselet.nn import functional as F

RNG = np.random.default_rng(0)


def numbers(*shape):
    return RNG.standard_normal(shape)


def attended(q, k, v, mask=None, scale=None):
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    with np.errstate(invalid="ignore"):
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares = shares / shares.sum(-1, keepdims=True)
    return np.nan_to_num(shares) @ v


def test_values_masks_and_scale():
    q, k, v = numbers(2, 3, 4, 8), numbers(2, 3, 6, 8), numbers(2, 3, 6, 5)
    t = fl.tensor
    close = dict(rtol=1e-10, atol=1e-12)
    attention = F.scaled_dot_product_attention
    np.testing.assert_allclose(attention(t(q), t(k), t(v)).numpy(), attended(q, k, v), **close)
    np.testing.assert_allclose(attention(t(q), t(k), t(v), scale=0.3).numpy(), attended(q, k, v, scale=0.3), **close)
    np.testing.assert_allclose(attention(t(q), t(k), t(v), is_causal=True).numpy(),
                               attended(q, k, v, np.tril(np.ones((4, 6), bool))), **close)
    mask = RNG.random((2, 1, 4, 6)) < 0.6
    mask[0, 0, 1] = False
    out = attention(t(q), t(k), t(v), t(mask))
    np.testing.assert_allclose(out.numpy(), attended(q, k, v, mask), **close)
    assert (out[0, :, 1] == 0).all()
    added = numbers(4, 6)
    np.testing.assert_allclose(attention(t(q), t(k), t(v), t(added)).numpy(), attended(q, k, v, added), **close)


def test_rows_that_see_nothing_have_finite_gradients():
    q, k, v = (fl.tensor(numbers(2, 4), requires_grad=True) for _ in range(3))
    mask = fl.tensor([[True, False], [False, False]])
    out = F.scaled_dot_product_attention(q, k, v, mask)
    np.testing.assert_allclose(out.detach().numpy(), np.stack([v.detach().numpy()[0], np.zeros(4)]))
    out.sum().backward()
    np.testing.assert_allclose(v.grad.numpy(), [[1] * 4, [0] * 4])
    assert q.grad.abs().sum().item() == 0 and k.grad.abs().sum().item() == 0
    nans = F.scaled_dot_product_attention(q, k, v * float("nan"))
    assert nans.isnan().all()


def test_heads_that_are_shared():
    """Each head of key and value serves as many neighbouring heads of query."""
    q, k, v = numbers(2, 4, 3, 8), numbers(2, 2, 5, 8), numbers(2, 2, 5, 8)
    got = F.scaled_dot_product_attention(fl.tensor(q), fl.tensor(k), fl.tensor(v), enable_gqa=True)
    np.testing.assert_allclose(got.numpy(), attended(q, k.repeat(2, 1), v.repeat(2, 1)), rtol=1e-10)
    with pytest.raises(RuntimeError, match="4 heads of query for 3"):
        F.scaled_dot_product_attention(fl.tensor(q), fl.zeros(2, 3, 5, 8), fl.zeros(2, 3, 5, 8), enable_gqa=True)


@pytest.mark.parametrize("dtype", [fl.float16, fl.bfloat16], ids=lambda d: d.name)
def test_16_bits_are_normalised_in_float32(dtype):
    """512 equal shares of 1/512 are exact; the mean of ones is 1."""
    q, k = fl.zeros(1, 1, 4, dtype=dtype), fl.ones(1, 512, 4, dtype=dtype)
    out = F.scaled_dot_product_attention(q, k, fl.ones(1, 512, 2, dtype=dtype))
    assert out.dtype is dtype and out.tolist() == [[[1, 1]]]
    masked = F.scaled_dot_product_attention(q, k, fl.ones(1, 512, 2, dtype=dtype), fl.full((1, 512), float("-inf"), dtype=dtype))
    assert masked.tolist() == [[[0, 0]]]


def test_dropout_gradients_and_wrong_use():
    x = fl.tensor(numbers(1, 3, 4), requires_grad=True)
    fl.autograd.gradcheck(lambda t: F.scaled_dot_product_attention(t, t * 2, t + 1, is_causal=True), x)
    fl.manual_seed(0)
    dropped = F.scaled_dot_product_attention(fl.zeros(1, 1, 4), fl.zeros(1, 1000, 4), fl.ones(1, 1000, 1), dropout_p=0.5)
    assert 0.8 < dropped.item() < 1.2 and dropped.item() != 1
    with pytest.raises(RuntimeError, match="is_causal"):
        F.scaled_dot_product_attention(x, x, x, fl.ones(3, 3, dtype=fl.bool), is_causal=True)
