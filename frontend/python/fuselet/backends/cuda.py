"""Settings of products on CUDA devices."""

from .. import _C


class _Matmul:
    """fuselet.backends.cuda.matmul."""

    @property
    def allow_tf32(self):
        """Whether float32 matrices are multiplied in TF32: any precision but 'highest' (see
        fuselet.set_float32_matmul_precision, which this sets to 'high' or 'highest')."""
        return _C.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allow):
        if not isinstance(allow, bool):
            raise TypeError(f"allow_tf32: expected a bool, got {type(allow).__name__}")
        _C.set_float32_matmul_precision("high" if allow else "highest")

    def __setattr__(self, name, value):
        if not hasattr(type(self), name):
            raise AttributeError(f"fuselet.backends.cuda.matmul has no setting '{name}'; there is allow_tf32")
        super().__setattr__(name, value)


matmul = _Matmul()


def is_built():
    """True: every build can use a CUDA device; fuselet.cuda.is_available() says whether there is one."""
    return True
