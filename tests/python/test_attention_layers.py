"""Multi-head attention and transformers against NumPy and against their parts."""

import math

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn


def reference(layer, q, k, v, hidden=None):
    """q (N, T, E), k (N, S, Ek), v (N, S, Ev); hidden broadcasts to (N, heads, T, S) and is True where a key is not seen."""
    p = {n: t.detach().numpy().astype(np.float64) for n, t in layer.named_parameters()}
    e, h = layer.embed_dim, layer.num_heads
    if "in_proj_weight" in p:
        weights = np.split(p["in_proj_weight"], 3)
    else:
        weights = [p[f"{n}_proj_weight"] for n in "qkv"]
    q, k, v = (x @ w.T + b for x, w, b in zip((q, k, v), weights, np.split(p["in_proj_bias"], 3)))
    q, k, v = (x.reshape(*x.shape[:2], h, e // h).transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(e // h)
    if hidden is not None:
        scores = np.where(hidden, -np.inf, scores)
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(top), 0, top))
    weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300)
    mixed = (weights @ v).transpose(0, 2, 1, 3).reshape(q.shape[0], -1, e)
    return mixed @ p["out_proj.weight"].T + p["out_proj.bias"], weights


def randomised(layer):
    for p in layer.parameters():
        nn.init.normal_(p, std=0.5)
    return layer


def test_self_attention_and_its_weights():
    fl.manual_seed(0)
    layer, x = randomised(nn.MultiheadAttention(8, 2, batch_first=True)), fl.randn(3, 5, 8)
    want, weights = reference(layer, *[x.numpy()] * 3)
    out, mean = layer(x, x, x)
    np.testing.assert_allclose(out.detach().numpy(), want, atol=1e-5)
    np.testing.assert_allclose(mean.detach().numpy(), weights.mean(1), atol=1e-6)
    out, each = layer(x, x, x, average_attn_weights=False)
    np.testing.assert_allclose(each.detach().numpy(), weights, atol=1e-6)
    fast, none = layer(x, x, x, need_weights=False)
    assert none is None and fl.allclose(fast, out, atol=1e-5)
    first = nn.MultiheadAttention(8, 2)
    first.load_state_dict(layer.state_dict())
    assert fl.allclose(first(*[x.transpose(0, 1)] * 3)[0].transpose(0, 1), out, atol=1e-6)
    alone, w = layer(x[1], x[1], x[1])
    assert fl.allclose(alone, out[1], atol=1e-6) and w.shape == (5, 5)


def test_masks_exclude():
    fl.manual_seed(1)
    layer = randomised(nn.MultiheadAttention(4, 2, batch_first=True))
    q, k = fl.randn(2, 3, 4), fl.randn(2, 5, 4)
    padding = fl.tensor([[False, False, True, False, True], [False] * 5])
    seen = fl.tensor([[False, True, False, False, False], [False] * 5, [True] * 5])
    hidden = padding.numpy()[:, None, None, :] | seen.numpy()[None, None]
    want, weights = reference(layer, q.numpy(), k.numpy(), k.numpy(), hidden)
    for need in (True, False):
        out, _ = layer(q, k, k, key_padding_mask=padding, attn_mask=seen, need_weights=need)
        np.testing.assert_allclose(out.detach().numpy(), want, atol=1e-5)
    # The query that sees nothing gives the output projection of 0.
    np.testing.assert_allclose(out[0, 2].detach().numpy(), layer.out_proj.bias.detach().numpy(), atol=1e-6)
    added = fl.zeros(3, 5).masked_fill(seen, -math.inf)
    assert fl.allclose(layer(q, k, k, key_padding_mask=padding, attn_mask=added)[0], out, atol=1e-5)
    by_head = seen.unsqueeze(0).expand(4, 3, 5)
    assert fl.allclose(layer(q, k, k, key_padding_mask=padding, attn_mask=by_head)[0], out, atol=1e-5)
    causal = fl.triu(fl.ones(3, 3), 1) != 0
    for need in (True, False):
        a = layer(q, q, q, attn_mask=causal, need_weights=need)[0]
        assert fl.allclose(layer(q, q, q, is_causal=True, need_weights=need)[0], a, atol=1e-6)
    with pytest.raises(RuntimeError, match=r"attn_mask must have shape \[3, 5\] or \[4, 3, 5\]"):
        layer(q, k, k, attn_mask=causal)
    with pytest.raises(RuntimeError, match=r"key_padding_mask must have shape \[2, 5\]"):
        layer(q, k, k, key_padding_mask=padding[:1])


def test_other_widths_names_and_initial_values():
    layer = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, batch_first=True)
    assert list(layer.state_dict()) == ["q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    q, k, v = fl.randn(2, 3, 4), fl.randn(2, 6, 3), fl.randn(2, 6, 5)
    want, _ = reference(layer, q.numpy(), k.numpy(), v.numpy())
    np.testing.assert_allclose(layer(q, k, v)[0].detach().numpy(), want, atol=1e-6)
    plain = nn.MultiheadAttention(4, 2)
    assert list(plain.state_dict()) == ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    assert plain.in_proj_bias.abs().sum().item() == 0 and plain.in_proj_weight.abs().max().item() <= math.sqrt(6 / 16)
    assert "in_proj_bias" not in nn.MultiheadAttention(4, 2, bias=False).state_dict()
    with pytest.raises(ValueError, match="divide"):
        nn.MultiheadAttention(5, 2)


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer_is_its_parts(norm_first):
    fl.manual_seed(2)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu", batch_first=True, norm_first=norm_first)
    x = fl.randn(2, 4, 8)
    attend = lambda t: layer.self_attn(t, t, t)[0]  # noqa: E731
    feed = lambda t: layer.linear2(nn.functional.gelu(layer.linear1(t)))  # noqa: E731
    if norm_first:
        y = x + attend(layer.norm1(x))
        want = y + feed(layer.norm2(y))
    else:
        y = layer.norm1(x + attend(x))
        want = layer.norm2(y + feed(y))
    assert fl.allclose(layer(x), want, atol=1e-5)
    assert list(layer.state_dict()) == ["self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight",
                                        "self_attn.out_proj.bias", "linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias",
                                        "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"]


def test_decoder_sees_no_later_position():
    fl.manual_seed(3)
    model = nn.Transformer(8, 2, 1, 2, 16, dropout=0.0, batch_first=True)
    src, tgt = fl.randn(2, 5, 8), fl.randn(2, 4, 8)
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    assert mask.tolist()[1] == [0, 0, -math.inf, -math.inf]
    out = model(src, tgt, tgt_mask=mask)
    changed = fl.cat([tgt[:, :3], fl.randn(2, 1, 8)], 1)
    again = model(src, changed, tgt_mask=mask)
    assert fl.allclose(again[:, :3], out[:, :3], atol=1e-5) and not fl.allclose(again[:, 3], out[:, 3])
    memory = model.encoder(src)
    assert fl.allclose(model.decoder(tgt, memory, tgt_mask=mask), out, atol=1e-5)
    assert model.decoder.layers[1].multihead_attn.in_proj_weight.shape == (24, 8)
    padding = fl.tensor([[False] * 4 + [True]] * 2)
    longer = model.encoder(fl.cat([src[:, :4], fl.randn(2, 1, 8)], 1), src_key_padding_mask=padding)
    assert fl.allclose(longer[:, :4], model.encoder(src, src_key_padding_mask=padding)[:, :4], atol=1e-5)
    with pytest.raises(RuntimeError, match="8 features"):
        model(fl.ones(2, 5, 6), tgt)


def test_layers_of_a_stack_are_copies():
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    stack = nn.TransformerEncoder(layer, 2, nn.LayerNorm(4))
    assert fl.equal(stack.layers[0].linear1.weight, stack.layers[1].linear1.weight)
    assert stack.layers[0].linear1.weight is not layer.linear1.weight and len(list(stack.parameters())) == 26
    stack(fl.randn(3, 1, 4)).sum().backward()
    assert all(p.grad is not None for p in stack.parameters())
    with pytest.raises(ValueError, match="activation"):
        nn.TransformerEncoderLayer(4, 2, activation="swish")
