"""What distributions share. batch_shape is the shape of the parameters; a sample has sample_shape in front of it."""

from __future__ import annotations

from ..grad_mode import no_grad
from ..making import tensor
from ..tensor_class import Size, Tensor


class Distribution:
    """Derive and write rsample() or sample(), and log_prob()."""

    has_rsample = False

    def __init__(self, batch_shape, validate_args=None):
        self.batch_shape, self.event_shape = Size(batch_shape), Size(())

    def _extended(self, sample_shape):
        return [*sample_shape, *self.batch_shape]

    def sample(self, sample_shape=()):
        """Random values without history."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Random values through which gradients flow to the parameters; NotImplementedError where there is no such way."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample()")

    def log_prob(self, value):
        """The logarithm of the probability (density) of the values."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob()")

    def entropy(self):
        """The entropy in nats."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy()")

    @property
    def stddev(self):
        """The square root of the variance."""
        return self.variance.sqrt()


def as_tensors(*values):
    """Parameters as tensors of one shape; numbers take the dtype of the tensors among them."""
    like = next((v for v in values if isinstance(v, Tensor)), None)
    made = [v if isinstance(v, Tensor) else tensor(float(v)) if like is None else like.new_tensor(v) for v in values]
    whole = sum(v.detach() * 0 for v in made)
    return [v.expand(whole.shape) for v in made]
