"""finfo and iinfo: the limits of a dtype."""

from . import _C

_FLOATS = {  # mantissa bits below the leading one, largest exponent
    _C.float64: (52, 1023), _C.float32: (23, 127), _C.float16: (10, 15), _C.bfloat16: (7, 127),
}


class finfo:
    """Limits of a floating dtype: bits, eps, max, min, tiny (the smallest normal number)."""

    def __init__(self, dtype=None):
        dtype = dtype or _C.get_default_dtype()
        if dtype not in _FLOATS:
            raise TypeError(f"finfo: expected a floating dtype, got {dtype}")
        mantissa, exponent = _FLOATS[dtype]
        self.dtype = dtype.name
        self.bits = dtype.itemsize * 8
        self.eps = 2.0 ** -mantissa
        self.max = (2.0 - 2.0 ** -mantissa) * 2.0 ** exponent
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - exponent)
        self.resolution = 10.0 ** -int(mantissa * 0.30103)

    def __repr__(self):
        return f"finfo(eps={self.eps}, max={self.max}, min={self.min}, tiny={self.tiny}, dtype={self.dtype})"


class iinfo:
    """Limits of an integer dtype: bits, min, max."""

    def __init__(self, dtype):
        if dtype.is_floating_point or dtype is _C.bool:
            raise TypeError(f"iinfo: expected an integer dtype, got {dtype}")
        self.dtype = dtype.name
        self.bits = dtype.itemsize * 8
        self.min = -2 ** (self.bits - 1) if dtype.is_signed else 0
        self.max = 2 ** (self.bits - 1) - 1 if dtype.is_signed else 2 ** self.bits - 1

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
