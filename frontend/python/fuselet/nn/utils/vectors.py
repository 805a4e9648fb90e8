"""The parameters of a model as one vector."""

from __future__ import annotations

from ... import _C
from ...grad_mode import no_grad


def parameters_to_vector(parameters):
    """All elements of the parameters, one after another."""
    return _C.functions.cat([p.reshape(-1) for p in parameters])


@no_grad
def vector_to_parameters(vec, parameters):
    """Writes the elements of a vector into the parameters, in order. ValueError unless their numbers agree."""
    parameters = list(parameters)
    if vec.numel() != sum(p.numel() for p in parameters):
        raise ValueError(f"vector_to_parameters: the vector has {vec.numel()} elements, the parameters "
                         f"{sum(p.numel() for p in parameters)}")
    at = 0
    for p in parameters:
        p.copy_(vec[at:at + p.numel()].view(p.shape))
        at += p.numel()
