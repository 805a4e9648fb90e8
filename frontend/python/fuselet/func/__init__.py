"""Functions to functions: gradients, products with the Jacobian, batches, and calls of a module with given parameters."""

from .batched import vmap
from .functional_call import functional_call
from .transforms import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, value_and_grad, vjp

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "value_and_grad", "vjp", "vmap"]
