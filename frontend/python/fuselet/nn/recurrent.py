"""Recurrent layers and cells: RNN (tanh or ReLU), LSTM (Hochreiter and Schmidhuber 1997), GRU (Cho et al. 2014).

Parameters weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 (a suffix _reverse for the second direction) start uniform in
±1/sqrt(hidden_size). Rows are gates one after another: i, f, g, o for LSTM; r, z, n for GRU.
"""

from __future__ import annotations

import math

from .. import _C
from ..making import empty, zeros
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence, pack_steps, valid_steps

_F = _C.functions


def _rnn_step(activate):
    def step(from_input, state, weight, bias):
        return (activate(from_input + F.linear(state[0], weight, bias)),)

    return step


def _lstm_step(from_input, state, weight, bias):
    i, f, g, o = (from_input + F.linear(state[0], weight, bias)).chunk(4, -1)
    c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def _gru_step(from_input, state, weight, bias):
    ri, zi, ni = from_input.chunk(3, -1)
    rh, zh, nh = F.linear(state[0], weight, bias).chunk(3, -1)
    r, z = (ri + rh).sigmoid(), (zi + zh).sigmoid()
    n = (ni + r * nh).tanh()
    return (n + z * (state[0] - n),)


class _Recurrent(Module):
    gates, states = 1, 1

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 device=None, dtype=None):
        super().__init__()
        if input_size <= 0 or hidden_size <= 0 or num_layers <= 0 or not 0 <= dropout <= 1:
            raise ValueError(f"{type(self).__name__}: sizes and num_layers must be positive and dropout in [0, 1], got {input_size}, "
                             f"{hidden_size}, {num_layers} and {dropout}")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, dropout, bidirectional
        self._directions = 2 if bidirectional else 1
        rows = self.gates * hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else hidden_size * self._directions
            for suffix in self._suffixes(layer):
                shapes = {"weight_ih": (rows, width), "weight_hh": (rows, hidden_size)}
                shapes.update({"bias_ih": (rows,), "bias_hh": (rows,)} if bias else {})
                for name, shape in shapes.items():
                    self.register_parameter(name + suffix, Parameter(empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def _suffixes(self, layer):
        return [f"_l{layer}", f"_l{layer}_reverse"][:self._directions]

    def reset_parameters(self):
        """Draws new initial values: uniform in ±1/sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size)
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def flatten_parameters(self):
        """Nothing to do: the weights are read where they lie."""

    def _step(self):
        raise NotImplementedError

    def forward(self, input, hx=None):
        packed = input if isinstance(input, PackedSequence) else None
        alone = packed is None and input.dim() == 2
        if packed is not None:
            x, seen = valid_steps(packed)
        else:
            if input.dim() not in (2, 3) or input.size(-1) != self.input_size:
                raise RuntimeError(f"{type(self).__name__}: expected (…, {self.input_size}) of two or three dimensions, got shape "
                                   f"{list(input.shape)}")
            x, seen = input.unsqueeze(1) if alone else input.transpose(0, 1) if self.batch_first else input, None
        start = self._start(hx, x, alone)
        if packed is not None and packed.sorted_indices is not None and hx is not None:
            start = tuple(s.index_select(1, packed.sorted_indices) for s in start)
        ends = []
        for layer in range(self.num_layers):
            outputs = []
            for d, suffix in enumerate(self._suffixes(layer)):
                first = tuple(s.select(0, layer * self._directions + d) for s in start)
                out, last = self._run(x, first, suffix, seen, d == 1)
                outputs.append(out)
                ends.append(last)
            x = outputs[0] if len(outputs) == 1 else _F.cat(outputs, -1)
            if self.dropout and layer + 1 < self.num_layers:
                x = F.dropout(x, self.dropout, self.training)
        last = tuple(_F.stack([e[k] for e in ends]) for k in range(self.states))
        if packed is not None:
            if packed.unsorted_indices is not None:
                last = tuple(s.index_select(1, packed.unsorted_indices) for s in last)
            x = pack_steps(x, packed)
        elif alone:
            x, last = x.squeeze(1), tuple(s.squeeze(1) for s in last)
        elif self.batch_first:
            x = x.transpose(0, 1)
        return x, last if self.states > 1 else last[0]

    def _start(self, hx, x, alone):
        shape = (self.num_layers * self._directions, x.size(1), self.hidden_size)
        if hx is None:
            return tuple(zeros(shape, dtype=x.dtype, device=x.device) for _ in range(self.states))
        if isinstance(hx, _C.TensorBase) == (self.states > 1) or (self.states > 1 and len(hx) != self.states):
            got = "a Tensor" if isinstance(hx, _C.TensorBase) else f"{len(hx)} states" if isinstance(hx, (tuple, list)) else type(hx).__name__
            raise RuntimeError(f"{type(self).__name__}: expected {'the states (h, c)' if self.states > 1 else 'one state, a Tensor'}, got {got}")
        given = tuple(hx) if self.states > 1 else (hx,)
        given = tuple(s.unsqueeze(1) for s in given) if alone else given
        for s in given:
            if tuple(s.shape) != shape:
                raise RuntimeError(f"{type(self).__name__}: expected a state of shape {list(shape)}, got {list(s.shape)}")
        return given

    def _run(self, x, state, suffix, seen, backwards):
        """One layer in one direction over x (T, N, I): (T, N, H) and the last state."""
        weights = [getattr(self, name + suffix, None) for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")]
        steps = F.linear(x, weights[0], weights[1]).unbind(0)
        step, outputs = self._step(), [None] * len(steps)
        for t in reversed(range(len(steps))) if backwards else range(len(steps)):
            made = step(steps[t], state, weights[2], weights[3])
            # Beyond a sequence's end its state stands still.
            state = made if seen is None else tuple(_F.where(seen[t], m, s) for m, s in zip(made, state))
            outputs[t] = state[0]
        return (_F.stack(outputs) if outputs else x.new_zeros(0, x.size(1), self.hidden_size)), state

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"]
        parts += [f"num_layers={self.num_layers}"] if self.num_layers != 1 else []
        parts += [f"{name}={getattr(self, name)}" for name, usual in (("bias", True), ("batch_first", False), ("dropout", 0.0),
                                                                    ("bidirectional", False)) if getattr(self, name) != usual]
        return ", ".join(parts)


class RNN(_Recurrent):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or ReLU with nonlinearity='relu'.

    input (T, N, input_size), with batch_first (N, T, …), also without N, or a PackedSequence; hx (num_layers · directions, N,
    hidden_size), 0 by default. Gives the last layer's outputs (T, N, hidden_size · directions) and the last states."""

    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: nonlinearity must be 'tanh' or 'relu', got {nonlinearity!r}")
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)
        self.nonlinearity = nonlinearity

    def _step(self):
        return _rnn_step(F.tanh if self.nonlinearity == "tanh" else F.relu)


class LSTM(_Recurrent):
    """c' = σ(f) c + σ(i) tanh(g), h' = σ(o) tanh(c'). As RNN, with states (h, c)."""

    gates, states = 4, 2

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 proj_size=0, device=None, dtype=None):
        if proj_size:
            raise NotImplementedError("LSTM: proj_size is not supported")
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)

    def _step(self):
        return _lstm_step


class GRU(_Recurrent):
    """n = tanh(W_in x + b_in + r (W_hn h + b_hn)), h' = (1 - z) n + z h. As RNN."""

    gates = 3

    def _step(self):
        return _gru_step


class _Cell(Module):
    gates, states = 1, 1

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = self.gates * hidden_size
        self.weight_ih = Parameter(empty(rows, input_size, device=device, dtype=dtype))
        self.weight_hh = Parameter(empty(rows, hidden_size, device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    reset_parameters = _Recurrent.reset_parameters

    def forward(self, input, hx=None):
        if input.dim() not in (1, 2) or input.size(-1) != self.input_size:
            raise RuntimeError(f"{type(self).__name__}: expected (N, {self.input_size}), got shape {list(input.shape)}")
        if hx is None:
            state = (zeros([*input.shape[:-1], self.hidden_size], dtype=input.dtype, device=input.device),) * self.states
        else:
            state = tuple(hx) if self.states > 1 else (hx,)
        made = self._step()(F.linear(input, self.weight_ih, self.bias_ih), state, self.weight_hh, self.bias_hh)
        return made if self.states > 1 else made[0]

    def extra_repr(self):
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(_Cell):
    """One step of RNN: input (N, input_size), hx (N, hidden_size) -> (N, hidden_size)."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNNCell: nonlinearity must be 'tanh' or 'relu', got {nonlinearity!r}")
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    _step = RNN._step


class LSTMCell(_Cell):
    """One step of LSTM: input (N, input_size), (h, c) of (N, hidden_size) -> (h', c')."""

    gates, states = 4, 2
    _step = LSTM._step


class GRUCell(_Cell):
    """One step of GRU: input (N, input_size), hx (N, hidden_size) -> (N, hidden_size)."""

    gates = 3
    _step = GRU._step
