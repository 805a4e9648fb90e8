"""Names of PyTorch that model code uses, and for those that are not here the nearest thing.

One list answers for all of it: a module's __getattr__ and the class Tensor refuse an absent name with what to use instead,
and the table in the documentation is written from it:

    ./dev python docs/write_pytorch_names.py
"""

from __future__ import annotations

import importlib

# Namespace of PyTorch -> where it is here, and the names.
NAMES = {
    "torch": ("fuselet", """
        Generator Size Tensor abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv all allclose amax amin aminmax any
        arange arccos arcsin arctan arctan2 argmax argmin argsort argwhere as_strided as_tensor asarray asin asinh atan atan2
        atanh atleast_1d atleast_2d atleast_3d autocast autograd backends baddbmm bernoulli bfloat16 bincount bitwise_and
        bitwise_not bitwise_or bitwise_xor block_diag bmm bool broadcast_shapes broadcast_tensors broadcast_to bucketize can_cast
        cartesian_prod cat cdist ceil channels_last chunk clamp clip clone column_stack compile compiler complex64 concat
        concatenate contiguous_format copysign cos cosh count_nonzero cross cuda cummax cummin cumprod cumsum deg2rad device diag
        diag_embed diagonal diff dist distributions div divide dot double dstack dtype e einsum empty empty_like enable_grad eq
        equal erf erfc erfinv exp exp2 expm1 eye fft finfo flatten flip fliplr flipud float float16 float32 float64 floor
        floor_divide fmax fmin fmod frac from_dlpack from_numpy full full_like func gather gcd ge ger get_default_device
        get_default_dtype get_float32_matmul_precision get_num_threads get_rng_state gt half heaviside histc hstack hypot iinfo
        index_add index_copy index_fill index_put index_select inf inference_mode initial_seed inner int int16 int32 int64 int8
        is_complex is_floating_point is_grad_enabled is_nonzero is_tensor isclose isfinite isin isinf isnan isneginf isposinf kron
        kthvalue lcm le lerp lgamma linalg linspace load log log10 log1p log2 log_softmax logaddexp logaddexp2 logcumsumexp
        logical_and logical_not logical_or logical_xor logit logspace logsumexp long lt manual_seed masked_fill masked_scatter
        masked_select matmul max maximum mean median meshgrid min minimum mm mode moveaxis movedim msort mul multinomial multiply
        mv nan nan_to_num nanmean nanmedian nanquantile nansum narrow ne neg negative newaxis nn no_grad nonzero norm normal numel
        ones ones_like optim outer pdist permute pi pinverse poisson polar pow preserve_format prod profiler promote_types
        quantile rad2deg rand rand_like randint randint_like randn randn_like randperm ravel reciprocal relu remainder
        repeat_interleave reshape result_type roll rot90 round rsqrt save scalar_tensor scatter scatter_add scatter_reduce
        searchsorted seed select set_default_device set_default_dtype set_float32_matmul_precision set_grad_enabled
        set_num_threads set_printoptions set_rng_state sigmoid sign signbit sin sinc sinh softmax sort sparse_coo_tensor special
        split sqrt square squeeze stack std std_mean stft strided sub subtract sum svd swapaxes swapdims t take take_along_dim tan
        tanh tensor tensor_split tensordot tile topk trace transpose trapezoid tril tril_indices triu triu_indices true_divide
        trunc typename uint8 unbind unflatten unique unique_consecutive unsqueeze use_deterministic_algorithms utils vander var
        var_mean vdot view_as_complex view_as_real vmap vsplit vstack where xlogy zeros zeros_like"""),
    "torch.nn": ("fuselet.nn", """
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss AdaptiveMaxPool1d AdaptiveMaxPool2d
        AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d BatchNorm3d
        Bilinear Buffer CELU CTCLoss ChannelShuffle CircularPad1d CircularPad2d ConstantPad1d ConstantPad2d Conv1d Conv2d Conv3d
        ConvTranspose1d ConvTranspose2d ConvTranspose3d CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss DataParallel Dropout
        Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag Flatten Fold GELU GLU GRU GRUCell GaussianNLLLoss GroupNorm
        Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss HuberLoss Identity InstanceNorm1d InstanceNorm2d
        InstanceNorm3d KLDivLoss L1Loss LSTM LSTMCell LayerNorm LazyLinear LeakyReLU Linear LocalResponseNorm LogSigmoid
        LogSoftmax MSELoss MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish Module
        ModuleDict ModuleList MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss MultiheadAttention NLLLoss PReLU
        PairwiseDistance Parameter ParameterDict ParameterList PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNCell
        RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d SELU Sequential SiLU Sigmoid
        SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus Softshrink Softsign SyncBatchNorm Tanh Tanhshrink Threshold
        Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer TripletMarginLoss
        TripletMarginWithDistanceLoss Unflatten Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d
        functional init parallel utils"""),
    "torch.nn.functional": ("fuselet.nn.functional", """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d
        affine_grid alpha_dropout avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear binary_cross_entropy
        binary_cross_entropy_with_logits celu channel_shuffle conv1d conv2d conv3d conv_transpose1d conv_transpose2d
        conv_transpose3d cosine_embedding_loss cosine_similarity cross_entropy ctc_loss dropout dropout1d dropout2d elu embedding
        embedding_bag fold gaussian_nll_loss gelu glu grid_sample group_norm gumbel_softmax hardshrink hardsigmoid hardswish
        hardtanh hinge_embedding_loss huber_loss instance_norm interpolate kl_div l1_loss layer_norm leaky_relu linear
        local_response_norm log_softmax logsigmoid margin_ranking_loss max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d
        max_unpool3d mish mse_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss nll_loss normalize one_hot
        pad pairwise_distance pdist pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu relu6 rms_norm rrelu
        scaled_dot_product_attention selu sigmoid silu smooth_l1_loss soft_margin_loss softmax softmin softplus softshrink
        softsign tanh tanhshrink threshold triplet_margin_loss triplet_margin_with_distance_loss unfold upsample"""),
    "torch.optim": ("fuselet.optim", """
        ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam Optimizer RAdam RMSprop Rprop SGD SparseAdam lr_scheduler
        swa_utils"""),
    "torch.optim.lr_scheduler": ("fuselet.optim.lr_scheduler", """
        ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR ExponentialLR LRScheduler LambdaLR LinearLR
        MultiStepLR MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau SequentialLR StepLR"""),
    "torch.utils.data": ("fuselet.utils.data", """
        BatchSampler ChainDataset ConcatDataset DataLoader Dataset DistributedSampler IterDataPipe IterableDataset MapDataPipe
        RandomSampler Sampler SequentialSampler StackDataset Subset SubsetRandomSampler TensorDataset WeightedRandomSampler
        dataloader default_collate default_convert distributed get_worker_info random_split sampler"""),
    "torch.special": ("fuselet.special", """
        bessel_j0 bessel_j1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e log1p log_ndtr log_softmax logit
        logsumexp multigammaln ndtr ndtri polygamma psi round sinc softmax xlog1py xlogy zeta"""),
    "torch.Tensor": ("fuselet.Tensor", """
        H T abs abs_ acos acos_ acosh_ add add_ addbmm_ addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv_ addr_ all allclose
        amax amin any arccos_ arcsin_ arctan2_ arctan_ argmax argmin argsort as_strided as_strided_ asin asin_ asinh_ atan atan2_
        atan_ atanh_ backward baddbmm baddbmm_ bernoulli bernoulli_ bfloat16 bitwise_and bitwise_and_ bitwise_not_ bitwise_or
        bitwise_or_ bitwise_xor bitwise_xor_ bmm bool broadcast_to byte cauchy_ ceil ceil_ char chunk clamp clamp_ clip clip_
        clone conj contiguous copy_ copysign copysign_ cos cos_ cosh cosh_ count_nonzero cpu cuda cummax cummin cumprod cumprod_
        cumsum cumsum_ data data_ptr deg2rad_ detach detach_ device diag diagonal diff digamma_ dim dist div div_ divide divide_
        dot double dtype element_size eq eq_ equal erf erf_ erfc_ erfinv erfinv_ exp exp2_ exp_ expand expand_as expm1 expm1_
        exponential_ fill_ fill_diagonal_ flatten flip float float_power_ floor floor_ floor_divide floor_divide_ fmod fmod_ frac
        frac_ gather gcd_ ge ge_ geometric_ get_device grad grad_fn greater_ greater_equal_ gt gt_ half heaviside_ histc hypot_
        imag index_add index_add_ index_copy_ index_fill_ index_put_ index_reduce_ index_select int is_complex is_contiguous
        is_cuda is_floating_point is_leaf is_pinned is_shared is_sparse isclose isfinite isinf isnan item itemsize kthvalue layout
        lcm_ le le_ lerp lerp_ less_ less_equal_ lgamma_ log log10 log10_ log1p log1p_ log2 log2_ log_ log_normal_ log_softmax
        logaddexp_ logical_and logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor_ logit_ logsumexp long lt
        lt_ mH mT map2_ map_ masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select matmul max maximum mean median
        min minimum mm mode movedim mul mul_ multinomial multiply_ mv names nan_to_num nan_to_num_ nanquantile narrow nbytes ndim
        ne ne_ neg neg_ negative_ nelement new new_empty new_full new_ones new_tensor new_zeros nextafter_ nonzero norm normal_
        not_equal_ numel numpy outer permute pin_memory pow pow_ prod put_ quantile rad2deg_ random_ ravel real reciprocal
        reciprocal_ register_hook register_post_accumulate_grad_hook relu relu_ remainder remainder_ rename rename_ renorm_ repeat
        repeat_interleave requires_grad requires_grad_ reshape reshape_as resize_ resize_as_ retain_grad retains_grad roll round
        round_ rsqrt rsqrt_ scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ select set_ sgn_ shape
        share_memory_ short sigmoid sigmoid_ sign sign_ sin sin_ sinc_ sinh sinh_ size softmax sort split sqrt sqrt_ square
        square_ squeeze squeeze_ std storage storage_offset stride sub sub_ subtract_ sum swapaxes swapaxes_ swapdims_ t t_ take
        tan tan_ tanh tanh_ tensor_split tile to to_dense to_sparse tolist topk trace transpose transpose_ tril tril_ triu triu_
        true_divide true_divide_ trunc trunc_ type type_as unbind unflatten unfold uniform_ unique unsqueeze unsqueeze_
        untyped_storage values var view view_as vsplit where xlogy_ zero_"""),
}

# What to use instead of a name that is not here. A name without an entry has nothing like it.
_SPARSE = "there are no sparse tensors; use dense ones, and scatter_add() or index_add() to put values in place"
_COMPLEX = "there are no complex dtypes; keep real and imaginary parts as two tensors"
_PARALLEL = "there is one process and one device a model; use utils.data.DistributedSampler with processes of your own"
NEAREST = {
    "AdaptiveLogSoftmaxWithLoss": "nn.CrossEntropyLoss over all classes",
    "SparseAdam": "optim.Adam",
    "autocast": "to(bfloat16) on the module and its inputs",
    "complex64": _COMPLEX, "imag": _COMPLEX, "polar": _COMPLEX, "real": _COMPLEX, "view_as_complex": _COMPLEX, "view_as_real": _COMPLEX,
    "conj": _COMPLEX, "mH": "mT", "fft": _COMPLEX, "stft": _COMPLEX,
    "DataParallel": _PARALLEL, "parallel": _PARALLEL, "SyncBatchNorm": "nn.BatchNorm2d",
    "int16": "int32, or int8", "short": "int() for int32, or char() for int8",
    "IterDataPipe": "IterableDataset", "MapDataPipe": "Dataset",
    "resize_": "a new tensor with new_empty(size)", "share_memory_": "from_numpy() over a shared NumPy array",
    "sparse_coo_tensor": _SPARSE, "to_sparse": _SPARSE, "values": "the tensor itself, which is dense",
    "svd": "numpy.linalg.svd on x.numpy()",
    "pinverse": "numpy.linalg.pinv on x.numpy()",
    "use_deterministic_algorithms": "nothing is needed: every operator is deterministic",
    "rename": "dimensions by number: there are no named dimensions", "map_": "apply_(), or operators",
    "profiler": "compiler.report()", "lgamma": "math.lgamma element by element with apply_()",
    "digamma": "the slope of lgamma by differences", "resize_as_": "a new tensor with empty_like(other)",
    "as_strided_": "as_strided()", "map2_": "apply_(), or operators", "rename_": "dimensions by number: there are no named dimensions",
    "log_ndtr": "special.ndtr() and log(), for arguments above -5", "ndtri": "erfinv(2 p - 1) * 2 ** 0.5",
}


class NotProvided(NotImplementedError, AttributeError):
    """A name of PyTorch that this package has not; hasattr() is false for it."""


def absent(namespace):
    """The __getattr__ of a module that stands for a namespace of PyTorch."""
    here, listed = NAMES[namespace][0], set(NAMES[namespace][1].split())

    def __getattr__(name):
        if name in listed:
            raise NotProvided(_refusal(namespace, name))
        raise AttributeError(f"module '{here}' has no attribute '{name}'")

    return __getattr__


class AbsentName:
    """An attribute of a class that is not here."""

    def __init__(self, namespace, name):
        self._text = _refusal(namespace, name)

    def __get__(self, instance, owner=None):
        raise NotProvided(self._text)


def mark_absent(cls, namespace):
    """Puts an AbsentName in the place of every listed name that the class has not."""
    for name in NAMES[namespace][1].split():
        if not hasattr(cls, name):
            setattr(cls, name, AbsentName(namespace, name))


def _refusal(namespace, name):
    nearest = NEAREST.get(name)
    # A sentence about there being none stands for itself.
    told = nearest and ("" if nearest.startswith(("there ", "nothing ")) else "the nearest is: ") + nearest
    return f"{namespace}.{name} is not in this package; " + (told or "there is nothing like it")


def find(namespace):
    """The module or class that stands for a namespace."""
    here = NAMES[namespace][0]
    if namespace == "torch.Tensor":
        return importlib.import_module("fuselet").Tensor
    return importlib.import_module(here)


def missing(namespace):
    """The listed names that are not here."""
    owner = find(namespace)
    return [name for name in sorted(NAMES[namespace][1].split()) if not hasattr(owner, name)]


def markdown():
    """The table of the documentation."""
    lines = ["# Names of PyTorch", "", "Written by `./dev python docs/write_pytorch_names.py` from the list in",
             "`frontend/python/fuselet/pytorch_names.py`. A name that is listed as absent raises `NotImplementedError` (and", "`hasattr` "
             "is false for it).", ""]
    for namespace, (here, names) in NAMES.items():
        gone = missing(namespace)
        listed = sorted(names.split())
        lines += [f"## {namespace}", "", f"`{here}`: {len(listed) - len(gone)} of {len(listed)} names.", ""]
        lines += _wrapped([f"`{n}`" for n in listed if n not in gone]) + [""]
        if gone:
            lines += ["| absent | nearest |", "|---|---|"]
            lines += [f"| `{n}` | {NEAREST.get(n, 'nothing')} |" for n in gone] + [""]
    return "\n".join(lines).rstrip() + "\n"


def _wrapped(words, width=118):
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines
