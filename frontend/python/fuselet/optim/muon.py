"""Muon (Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"): orthogonal steps for matrices."""

from __future__ import annotations

import math

from .. import _C
from .tensor_steps import TensorOptimizer, wide, write

_F = _C.functions

_ADJUSTMENTS = (None, "original", "match_rms_adamw")


def orthogonalized(matrix, coefficients, steps, eps):
    """U Vᵀ of the matrix (N, M) = U S Vᵀ, roughly: `steps` times X = a X + (b A + c A²) X with A = X Xᵀ, from the matrix over its
    norm, which is at least eps. With Jordan's coefficients singular values end between about 0.7 and 1.2."""
    a, b, c = coefficients
    is_tall = matrix.size(0) > matrix.size(1)
    x = matrix.T if is_tall else matrix
    x = x / x.square().sum().sqrt().clamp(min=eps)
    for _ in range(steps):
        square = _F.mm(x, x.T)
        x = x * a + _F.mm(square * b + _F.mm(square, square) * c, x)
    return x.T if is_tall else x


class Muon(TensorOptimizer):
    """A step with gradient g of matrices (N, M):

        p -= lr weight_decay p
        b = momentum b + (1 - momentum) g
        u = b                               with nesterov: momentum b + (1 - momentum) g
        p -= lr s orthogonalized(u)         s = sqrt(max(1, N / M)), or 0.2 sqrt(max(N, M)) with adjust_lr_fn="match_rms_adamw"
                                            (Liu et al. 2025, "Muon is scalable for LLM training")

    Other parameters (biases, embeddings, convolutions) belong to another optimizer. Products are float32 for 16-bit
    parameters. ValueError for parameters that are no matrices, and options out of range."""

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7,
                 ns_steps=5, adjust_lr_fn=None, *, state_dtype=None):
        if adjust_lr_fn not in _ADJUSTMENTS:
            raise ValueError(f"Muon: adjust_lr_fn must be 'original' or 'match_rms_adamw', got {adjust_lr_fn!r}")
        if not 0 < ns_steps < 100 or len(ns_coefficients) != 3:
            raise ValueError(f"Muon: expected 1 to 99 ns_steps and three ns_coefficients, got {ns_steps} and {ns_coefficients}")
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=tuple(ns_coefficients), eps=eps, ns_steps=ns_steps, adjust_lr_fn=adjust_lr_fn),
                         state_dtype=state_dtype)

    def check_options(self, options):
        super().check_options(options)
        for p in options["params"]:
            if p.dim() != 2:
                raise ValueError(f"Muon: parameters must be matrices, got shape {list(p.shape)}; give others to another optimizer")

    def decayed(self, group, p, g):
        return g  # the decay is of p itself

    def update_one(self, group, p, g, prepared):
        buffer, momentum = self.state_of(p, "momentum_buffer"), group["momentum"]
        b = wide(buffer) * momentum + g * (1 - momentum)
        write(buffer, b)
        u = b * momentum + g * (1 - momentum) if group["nesterov"] else b
        rows, columns = p.shape
        scale = 0.2 * math.sqrt(max(rows, columns)) if group["adjust_lr_fn"] == "match_rms_adamw" else math.sqrt(max(1, rows / columns))
        step = orthogonalized(u, group["ns_coefficients"], group["ns_steps"], group["eps"]) * scale
        if group["weight_decay"]:
            step = step + wide(p) * group["weight_decay"]
        write(p, wide(p) - _F.mul(step, group.cells["lr"]))
