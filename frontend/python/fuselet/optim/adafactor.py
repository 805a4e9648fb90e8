"""Adafactor (Shazeer and Stern 2018): second moments of matrices as a row and a column."""

from __future__ import annotations

from .. import _C
from ..making import zeros
from ..number_limits import finfo
from .tensor_steps import TensorOptimizer, number, wide, write

_F = _C.functions


def _root_mean_square(values):
    return values.square().mean().sqrt()


class Adafactor(TensorOptimizer):
    """A step t with gradient g, b = t^beta2_decay, r = min(lr, 1 / sqrt(t)), and rms(x) the root of the mean of x²:

        p -= lr weight_decay p
        R += b (mean of g² along the last dimension - R);  C += b (mean of g² along the one before - C)
        v = R C / max(mean(R), eps[0])                     of vectors and numbers: v += b (g² - v)
        u = g / sqrt(max(v, eps[0]²))
        p -= max(eps[1], rms(p)) r u / max(1, rms(u) / d)

    rms(p) is that before the step. Of more than two dimensions the leading ones are a batch of matrices. eps[0] is by
    default the distance of 1 to the next number of p's dtype. ValueError for options out of range."""

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None, maximize=False,
                 state_dtype=None):
        if beta2_decay > 0:
            raise ValueError(f"Adafactor: beta2_decay must not be positive, got {beta2_decay}")
        if d < 1:
            raise ValueError(f"Adafactor: d must be at least 1, got {d}")
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=tuple(eps), d=d, weight_decay=weight_decay, maximize=maximize),
                         state_dtype=state_dtype)

    def check_options(self, options):
        if any(e is not None and e < 0 for e in options["eps"]):
            raise ValueError(f"Adafactor: eps must not be negative, got {options['eps']}")
        super().check_options({name: value for name, value in options.items() if name != "eps"})

    def shape_of_state(self, p, name):
        shape = list(p.shape)
        if name == "row_var":
            shape[-1] = 1
        if name == "col_var":
            shape[-2] = 1
        return tuple(shape)

    def decayed(self, group, p, g):
        return g  # the decay is of p itself

    def prepare(self, group, step, like):
        count = number(step, like)
        return (count.log() * group["beta2_decay"]).exp(), _F.minimum(number(group.cells["lr"], like), count.rsqrt())

    def update_one(self, group, p, g, prepared):
        (mixing, rate), values = prepared, wide(p)
        tiny, least = finfo(p.dtype).eps if group["eps"][0] is None else group["eps"][0], group["eps"][1]
        size = _root_mean_square(values).clamp(min=least) * rate
        if group["weight_decay"]:
            values = values - _F.mul(values * group["weight_decay"], group.cells["lr"])
        squares = g * g
        if g.dim() > 1:
            row = self._moved(p, "row_var", squares.mean(-1, True), mixing)
            column = self._moved(p, "col_var", squares.mean(-2, True), mixing)
            estimate = row * column / row.squeeze(-1).mean(-1, True).unsqueeze(-1).clamp(min=tiny)
        else:
            estimate = self._moved(p, "variance", squares, mixing)
        change = estimate.clamp(min=tiny * tiny).rsqrt() * g
        write(p, values - change * (size / (_root_mean_square(change) / group["d"]).clamp(min=1.0)))

    def _moved(self, p, name, towards, mixing):
        """The state tensor after its move."""
        state = self.state_of(p, name, lambda q: zeros(self.shape_of_state(q, name), dtype=self._state_dtype or q.dtype, device=q.device))
        moved = wide(state) + (towards - wide(state)) * mixing
        write(state, moved)
        return moved
