"""Weight normalisation: weight = g v / |v|, the norm taken over all dimensions but `dim` (Salimans and Kingma 2016).

This is the older form, which keeps weight_g and weight_v on the module itself; utils.parametrizations has the newer one.
"""

from __future__ import annotations

from ..parameter import Parameter


def norm_except(v, dim):
    """The norms over all dimensions but `dim`, which keep v's rank; over all of them for dim None or -1."""
    if dim is None or dim == -1:
        return v.norm()
    return v.norm(2, [d for d in range(v.dim()) if d != dim % v.dim()], True) if v.dim() > 1 else v.abs()


def normalized(g, v, dim):
    """g v / |v|."""
    return v * (g / norm_except(v, dim))


class _Recompute:
    def __init__(self, name, dim):
        self.name, self.dim = name, dim

    def __call__(self, module, args):
        value = normalized(getattr(module, self.name + "_g"), getattr(module, self.name + "_v"), self.dim)
        object.__setattr__(module, self.name, value)


def weight_norm(module, name="weight", dim=0):
    """Replaces module.<name> by the parameters <name>_g and <name>_v; it is computed before every call."""
    weight = module._parameters.pop(name)
    module.register_parameter(name + "_g", Parameter(norm_except(weight.detach(), dim)))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    recompute = _Recompute(name, dim)
    recompute(module, ())
    module.register_forward_pre_hook(recompute)
    return module


def remove_weight_norm(module, name="weight"):
    """Makes module.<name> an ordinary parameter again."""
    for number, (hook, _) in list(module._forward_pre_hooks.items()):
        if isinstance(hook, _Recompute) and hook.name == name:
            value = normalized(getattr(module, name + "_g"), getattr(module, name + "_v"), hook.dim).detach()
            del module._forward_pre_hooks[number]
            del module._parameters[name + "_g"], module._parameters[name + "_v"]
            module.__dict__.pop(name, None)
            module.register_parameter(name, Parameter(value))
            return module
    raise ValueError(f"remove_weight_norm: '{name}' of {type(module).__name__} has no weight normalisation")
