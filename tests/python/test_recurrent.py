"""Recurrent layers and packed sequences against NumPy in double precision."""

import numpy as np
import pytest

import fuselet as fl
from fuselet import nn
from fuselet.nn.utils.rnn import (pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence,
                                  unpad_sequence)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn_step(x, state, w_ih, w_hh, b_ih, b_hh):
    return (np.tanh(x @ w_ih.T + b_ih + state[0] @ w_hh.T + b_hh),)


def lstm_step(x, state, w_ih, w_hh, b_ih, b_hh):
    i, f, g, o = np.split(x @ w_ih.T + b_ih + state[0] @ w_hh.T + b_hh, 4, -1)
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_step(x, state, w_ih, w_hh, b_ih, b_hh):
    (ri, zi, ni), (rh, zh, nh) = np.split(x @ w_ih.T + b_ih, 3, -1), np.split(state[0] @ w_hh.T + b_hh, 3, -1)
    r, z = sigmoid(ri + rh), sigmoid(zi + zh)
    return ((1 - z) * np.tanh(ni + r * nh) + z * state[0],)


KINDS = {"RNN": (nn.RNN, nn.RNNCell, rnn_step, 1), "LSTM": (nn.LSTM, nn.LSTMCell, lstm_step, 2), "GRU": (nn.GRU, nn.GRUCell, gru_step, 1)}


def expected(layer, step, x, states):
    """x (T, N, I); states: arrays (layers * directions, N, H). Outputs and last states."""
    p = {n: v.detach().numpy() for n, v in layer.named_parameters()}
    directions, ends = 2 if layer.bidirectional else 1, []
    for k in range(layer.num_layers):
        outs = []
        for d, suffix in enumerate(("", "_reverse")[:directions]):
            state = tuple(s[k * directions + d] for s in states)
            weights = [p[f"{n}_l{k}{suffix}"] for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            out = np.zeros((*x.shape[:2], layer.hidden_size))
            for t in reversed(range(len(x))) if d else range(len(x)):
                state = step(x[t], state, *weights)
                out[t] = state[0]
            outs.append(out)
            ends.append(state)
        x = np.concatenate(outs, -1)
    return x, [np.stack(e) for e in zip(*ends)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers,both", [(1, False), (2, True)])
def test_layers_against_numpy(kind, layers, both):
    make, _, step, count = KINDS[kind]
    fl.manual_seed(0)
    layer = make(3, 4, layers, bidirectional=both).double()
    x = fl.randn(5, 2, 3, dtype=fl.float64)
    states = [fl.randn(layers * (2 if both else 1), 2, 4, dtype=fl.float64) for _ in range(count)]
    out, last = layer(x, tuple(states) if count > 1 else states[0])
    want, ends = expected(layer, step, x.numpy(), [s.numpy() for s in states])
    np.testing.assert_allclose(out.detach().numpy(), want, atol=1e-12)
    for got, end in zip(last if count > 1 else [last], ends):
        np.testing.assert_allclose(got.detach().numpy(), end, atol=1e-12)
    by_batch = make(3, 4, layers, bidirectional=both, batch_first=True).double()
    by_batch.load_state_dict(layer.state_dict())
    assert fl.allclose(by_batch(x.transpose(0, 1))[0].transpose(0, 1), layer(x)[0])
    alone, end = layer(x[:, 0])
    assert fl.allclose(alone, layer(x[:, :1])[0].squeeze(1)) and (end[0] if count > 1 else end).dim() == 2


@pytest.mark.parametrize("kind", KINDS)
def test_cells_make_one_step(kind):
    _, make, step, count = KINDS[kind]
    cell = make(3, 4).double()
    x, states = fl.randn(2, 3, dtype=fl.float64), tuple(fl.randn(2, 4, dtype=fl.float64) for _ in range(count))
    got = cell(x, states if count > 1 else states[0])
    weights = [getattr(cell, n).detach().numpy() for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    for g, w in zip(got if count > 1 else [got], step(x.numpy(), [s.numpy() for s in states], *weights)):
        np.testing.assert_allclose(g.detach().numpy(), w, atol=1e-12)
    assert fl.allclose(*(c[0] if count > 1 else c for c in (cell(x), cell(x, tuple(fl.zeros(2, 4, dtype=fl.float64) for _ in range(count))
                                                                             if count > 1 else fl.zeros(2, 4, dtype=fl.float64)))))


def test_names_initial_values_and_gradients():
    layer = nn.LSTM(2, 3, num_layers=2, bidirectional=True)
    names = [f"{kind}_l{k}{r}" for k in (0, 1) for r in ("", "_reverse") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    assert list(layer.state_dict()) == names
    assert layer.weight_ih_l1.shape == (12, 6) and max(p.abs().max().item() for p in layer.parameters()) <= 3 ** -0.5
    assert list(nn.GRU(2, 3, bias=False).state_dict()) == ["weight_ih_l0", "weight_hh_l0"]
    assert repr(layer) == "LSTM(2, 3, num_layers=2, bidirectional=True)"
    cell = nn.GRU(2, 2).double()
    weights = [p.detach().requires_grad_() for p in cell.parameters()]

    def f(x, *given):
        return fl.func.functional_call(cell, dict(zip(cell.state_dict(), given)), (x,))[0]

    assert fl.autograd.gradcheck(f, (fl.randn(2, 1, 2, dtype=fl.float64).requires_grad_(), *weights))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("both", [False, True])
def test_packed_sequences_are_run_each_for_itself(kind, both):
    make, _, _, count = KINDS[kind]
    fl.manual_seed(1)
    layer = make(3, 4, num_layers=2, bidirectional=both)
    sequences = [fl.randn(n, 3) for n in (2, 4, 1)]
    packed = pack_sequence(sequences, enforce_sorted=False)
    out, last = layer(packed)
    padded, lengths = pad_packed_sequence(out)
    assert lengths.tolist() == [2, 4, 1]
    for i, s in enumerate(sequences):
        alone, end = layer(s)
        np.testing.assert_allclose(padded[:len(s), i].detach().numpy(), alone.detach().numpy(), atol=1e-6)
        assert padded[len(s):, i].abs().sum().item() == 0
        for got, want in zip(last if count > 1 else [last], end if count > 1 else [end]):
            np.testing.assert_allclose(got[:, i].detach().numpy(), want.detach().numpy(), atol=1e-6)


def test_padding_and_packing():
    sequences = [fl.tensor([1.0, 2.0, 3.0]), fl.tensor([4.0])]
    assert pad_sequence(sequences).tolist() == [[1, 4], [2, 0], [3, 0]]
    assert pad_sequence(sequences, batch_first=True, padding_value=9.0, padding_side="left").tolist() == [[1, 2, 3], [9, 9, 4]]
    packed = pack_sequence(sequences)
    assert packed.data.tolist() == [1, 4, 2, 3] and packed.batch_sizes.tolist() == [2, 1, 1] and packed.sorted_indices is None
    padded, lengths = pad_packed_sequence(packed, batch_first=True, total_length=4, padding_value=-1.0)
    assert padded.tolist() == [[1, 2, 3, -1], [4, -1, -1, -1]] and lengths.tolist() == [3, 1]
    assert [s.tolist() for s in unpad_sequence(padded, lengths, batch_first=True)] == [[1, 2, 3], [4]]
    x = fl.ones(3, 2, requires_grad=True)
    pack_padded_sequence(x, [3, 1]).data.sum().backward()
    assert x.grad.tolist() == [[1, 1], [1, 0], [1, 0]]
    with pytest.raises(RuntimeError, match="must not grow"):
        pack_padded_sequence(x, [1, 3])
    with pytest.raises(RuntimeError, match="between 1 and 3"):
        pack_padded_sequence(x, [3, 0])


def test_mistakes():
    layer = nn.LSTM(3, 4)
    with pytest.raises(RuntimeError, match=r"LSTM: expected \(…, 3\)"):
        layer(fl.ones(5, 2, 4))
    with pytest.raises(RuntimeError, match=r"state of shape \[1, 2, 4\], got \[2, 4\]"):
        layer(fl.ones(5, 2, 3), (fl.ones(2, 4), fl.ones(2, 4)))
    with pytest.raises(ValueError, match="nonlinearity"):
        nn.RNN(3, 4, nonlinearity="sigmoid")


def test_dropout_lies_between_layers():
    layer, x = nn.GRU(3, 4, num_layers=2, dropout=1.0), fl.randn(2, 1, 3)
    a, b = layer(x)[0], layer(fl.randn(2, 1, 3))[0]
    assert fl.equal(a, b)  # the second layer sees zeros
    assert not fl.equal(layer.eval()(x)[0], a)


def test_the_number_of_states_is_checked():
    x, z = fl.zeros(2, 3, 3), fl.zeros(1, 3, 4)
    for given, got in (((z,), "1 states"), ((z, z, z), "3 states"), (z, "a Tensor")):
        with pytest.raises(RuntimeError, match=r"LSTM: expected the states \(h, c\), got " + got):
            nn.LSTM(3, 4)(x, given)
    with pytest.raises(RuntimeError, match="GRU: expected one state, a Tensor, got 1 states"):
        nn.GRU(3, 4)(x, (z,))
