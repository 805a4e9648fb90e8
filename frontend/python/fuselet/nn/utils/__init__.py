"""Helps for training modules: clipping, parameters as one vector, reparametrisation, padded and packed sequences."""

from . import parametrizations, parametrize, rnn
from .gradients import clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from .vectors import parameters_to_vector, vector_to_parameters
from .weight_norm import remove_weight_norm, weight_norm

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector",
           "parametrizations", "parametrize", "remove_weight_norm", "rnn", "vector_to_parameters", "weight_norm"]
