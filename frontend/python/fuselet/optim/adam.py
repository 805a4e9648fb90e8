"""Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019)."""

from __future__ import annotations

from .. import _C
from ..making import zeros_like
from .optimizer import Optimizer
from .tensor_steps import number, power, wide, write


class Adam(Optimizer):
    """Step t with gradient g (Kingma and Ba 2015):

        g += weight_decay p
        m = beta1 m + (1 - beta1) g
        v = beta2 v + (1 - beta2) g²
        p -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

    params: floating leaves, or dicts {"params": […], option: value} with options of their own. A parameter
    without gradient is skipped and its t stands still. The moments exp_avg and exp_avg_sq have the parameter's
    shape and dtype, or state_dtype. A group is one fused step anyway: foreach, fused and capturable change
    nothing. amsgrad divides by the root of the largest v so far (Reddi et al. 2018), parameter by parameter.
    ValueError for options out of range, an empty list, a parameter given twice."""

    cell_names = ("lr", "beta1", "beta2")
    decoupled = False

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, *,
                 maximize=False, state_dtype=None, foreach=None, fused=None, capturable=False, differentiable=False):
        if differentiable:
            raise NotImplementedError(f"{type(self).__name__}: differentiable is not supported")
        self._state_dtype = state_dtype
        super().__init__(params, dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                                      maximize=maximize))

    def check_options(self, options):
        super().check_options(options)
        if not all(0 <= b < 1 for b in options["betas"]):
            raise ValueError(f"{type(self).__name__}: betas must lie in [0, 1), got {options['betas']}")
        if options["eps"] < 0:
            raise ValueError(f"{type(self).__name__}: eps must not be negative, got {options['eps']}")

    def update(self, group, step, params, grads):
        def make(p):
            return zeros_like(p, dtype=self._state_dtype)

        if group["amsgrad"]:
            return self._amsgrad(group, step, params, grads, make)
        means, squares = self.slots("exp_avg", params, make), self.slots("exp_avg_sq", params, make)
        cells = group.cells
        _C.internal.adam_step(params, grads, means, squares, cells["lr"], step, cells["beta1"], cells["beta2"], group["eps"],
                              group["weight_decay"], self.decoupled, group["maximize"])


    def _amsgrad(self, group, step, params, grads, make):
        lr, t, (beta1, beta2) = number(group.cells["lr"], params[0]), number(step, params[0]), group["betas"]
        rate, root = lr / (1 - power(beta1, t)), (1 - power(beta2, t)).sqrt()
        for i, p in enumerate(params):
            g = wide(-grads[i] if group["maximize"] else grads[i])
            if self.decoupled:
                write(p, wide(p) * (1 - lr * group["weight_decay"]))
            else:
                g = g + wide(p) * group["weight_decay"]
            mean, square, largest = (self.slots(n, [p], make)[0] for n in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq"))
            m, v = wide(mean) * beta1 + g * (1 - beta1), wide(square) * beta2 + g * g * (1 - beta2)
            top = _C.functions.maximum(wide(largest), v)
            for target, value in ((mean, m), (square, v), (largest, top)):
                write(target, value)
            write(p, wide(p) - m / (top.sqrt() / root + group["eps"]) * rate)


class AdamW(Adam):
    """Adam with decoupled decay (Loshchilov and Hutter 2019): the gradient stays as it is and each step begins
    with p -= lr weight_decay p. Parameters, state and errors as for Adam:

        m = beta1 m + (1 - beta1) g
        v = beta2 v + (1 - beta2) g²
        p -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
    """

    decoupled = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *,
                 maximize=False, state_dtype=None, foreach=None, fused=None, capturable=False, differentiable=False):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, state_dtype=state_dtype,
                         differentiable=differentiable)
