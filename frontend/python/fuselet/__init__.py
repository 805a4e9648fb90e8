"""fuselet: a miniature deep-learning framework with its own compiler. Names and behaviour as in PyTorch."""

import os as _os

from . import _C
from ._C import (Generator, HostCell, InternalError, bfloat16, default_generator, device, dtype, float16,
                 float32, float64, get_default_device, get_default_dtype, get_num_threads, int8, int32, int64,
                 is_grad_enabled, promote_types, set_default_dtype, set_num_threads, uint8)
from .tensor_class import Size, Tensor, uint16

# The operators of the table, then the functions written in terms of them.
for _name in dir(_C.functions):
    if not _name.startswith("_"):
        globals()[_name] = getattr(_C.functions, _name)
from .composed import *  # noqa: F403
from .shaping import *  # noqa: F403
from .joining import *  # noqa: F403
from .diagonals import *  # noqa: F403
from .selecting import *  # noqa: F403
from .ordering import *  # noqa: F403
from .contracting import *  # noqa: F403
from .reductions import *  # noqa: F403
from .quantiles import *  # noqa: F403
from .cumulative import *  # noqa: F403
from .histograms import *  # noqa: F403
from .distances import *  # noqa: F403
from .making import (arange, as_tensor, asarray, bernoulli, empty, empty_like, eye, from_dlpack, from_numpy, full,
                     full_like, linspace, meshgrid, multinomial, normal, ones, ones_like, rand, rand_like,
                     randint, randint_like, randn, randn_like, randperm, scalar_tensor, tensor, zeros, zeros_like)
from .poisson import poisson
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .number_limits import finfo, iinfo
from .constants import (channels_last, channels_last_3d, contiguous_format, e, inf, layout, memory_format, nan, newaxis, pi,
                        preserve_format, strided)
from .dtype_rules import can_cast, is_complex, is_nonzero, result_type, typename
from .legacy_types import (BFloat16Tensor, BoolTensor, ByteTensor, CharTensor, DoubleTensor, FloatTensor, HalfTensor, IntTensor,
                           LongTensor)
from .printing import set_printoptions
from .random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state

bool, float, double, half = _C.bool, float32, float64, float16
int, long = int32, int64


def is_tensor(obj):
    """Whether obj is a Tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input):
    """Whether the dtype of input is a floating one."""
    return input.is_floating_point()


def numel(input):
    """The number of elements."""
    return input.numel()


def set_default_device(device):
    """The device of what is made without a device: tensors, layers, random numbers; None for the CPU, with which every
    thread starts. `with fuselet.device("cuda"):` sets it for a block. from_numpy(), from_dlpack() and load() do not heed
    it, nor does what takes after a tensor (zeros_like(), new_ones(), tensor(other))."""
    if device is not None:
        device = _C.device(device)
        if device.type == "cuda":
            _C.cuda.check_device(device.index)
    _C.set_default_device(device)


def set_float32_matmul_precision(precision):
    """How CUDA devices multiply float32 matrices: 'highest' (the default) in float32 throughout; 'high' or 'medium' with
    factors rounded to TF32, 10 bits of mantissa, and sums in float32. A setting of the calling thread, as grad mode is.
    Products on the CPU and of other dtypes do not depend on it. RuntimeError for another text, and inside a compiled
    function."""
    _C.set_float32_matmul_precision(precision)


def get_float32_matmul_precision():
    """'highest', 'high' or 'medium'; see set_float32_matmul_precision."""
    return _C.get_float32_matmul_precision()


_C._install_line_hook(_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)

from . import (accelerator, autograd, backends, compiler, cuda, distributions, func, linalg, nn, optim,  # noqa: E402
               random, serialization, special, testing, utils)
from .backends.absent import npu, xpu  # noqa: E402
from .compiling import compile  # noqa: E402
from .func import vmap  # noqa: E402
from .saving import load, save  # noqa: E402

from . import pytorch_names as _pytorch_names  # noqa: E402

_pytorch_names.mark_absent(Tensor, "torch.Tensor")
__getattr__ = _pytorch_names.absent("torch")

__version__ = "0.1.0"
