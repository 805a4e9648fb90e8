"""What all optimizers share: parameter groups, state by parameter, saving and loading.

Numbers that change between steps (the learning rate, the betas, the count of steps) live in host cells:
a recording reads the cell on every run, so changing group['lr'] needs no new one.
"""

from __future__ import annotations

import collections
import copyreg

from .. import _C
from ..grad_mode import enable_grad, no_grad
from ..nn.module_hooks import register


copyreg.pickle(_C.HostCell, lambda cell: (_C.HostCell, (cell.get(), cell.name)))


def _copied(value, device):
    """A value of a state that shares no tensor, list or dict with it; its tensors are on the device."""
    if isinstance(value, _C.TensorBase):
        return value.detach().to(device=device, copy=True)
    if type(value) in (list, tuple):
        return type(value)(_copied(v, device) for v in value)
    if type(value) is dict:
        return {k: _copied(v, device) for k, v in value.items()}
    return value


class ParameterGroup(dict):
    """The options of some parameters. The entries named in `cells` are mirrored by host cells."""

    def __init__(self, options, cell_names):
        super().__init__()
        self.cells = {name: _C.HostCell(0.0, name) for name in cell_names}
        self.update(options)

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        if name in self.cells:
            self.cells[name].set(float(value))
        elif name == "betas":
            for cell, beta in zip(("beta1", "beta2"), value):
                if cell in self.cells:
                    self.cells[cell].set(float(beta))

    def update(self, *options, **named):
        for name, value in dict(*options, **named).items():
            self[name] = value

    def setdefault(self, name, value=None):
        if name not in self:
            self[name] = value
        return self[name]

    def __reduce__(self):
        return ParameterGroup, (dict(self), tuple(self.cells))


class Optimizer:
    """Subclasses name their cells and state tensors and run one step over parallel lists in update(); or they write step()
    themselves, over param_groups and state."""

    cell_names = ("lr",)

    def __init__(self, params, defaults):
        self.defaults = defaults
        self.state = collections.defaultdict(dict)
        self.param_groups = []
        self._step_hooks = {"before": {}, "after": {}}
        groups = [{"params": params}] if isinstance(params, (set, frozenset)) else list(params)
        if not groups:
            raise ValueError(f"{type(self).__name__}: the list of parameters is empty")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        """One more group; options that it lacks come from the defaults."""
        given = param_group["params"]
        if isinstance(given, (set, frozenset)):
            raise TypeError(f"{type(self).__name__}: parameters in a set have no order, by which a state could name them; give a list")
        params = [given] if isinstance(given, _C.TensorBase) else list(given)
        params = [p[1] if isinstance(p, tuple) else p for p in params]
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for i, p in enumerate(params):
            if not isinstance(p, _C.TensorBase):
                raise TypeError(f"{type(self).__name__}: parameter {i} is a {type(p).__name__}, not a Tensor")
            if not p.is_leaf or not p.is_floating_point():
                raise ValueError(f"{type(self).__name__}: parameter {i} must be a floating leaf")
            if id(p) in known:
                raise ValueError(f"{type(self).__name__}: parameter {i} is given twice")
            known.add(id(p))
        options = {**self.defaults, **param_group, "params": params}
        self.check_options(options)
        self.param_groups.append(ParameterGroup(options, self.cell_names))

    def check_options(self, options):
        """ValueError for options of a group that are out of range."""
        try:
            # An optimizer of the user's own may have no learning rate.
            negative = float(options.get("lr", 0)) < 0
        except (TypeError, ValueError):
            raise ValueError(f"{type(self).__name__}: the learning rate must be a number, got {options['lr']!r}") from None
        if negative:
            raise ValueError(f"{type(self).__name__}: the learning rate must not be negative, got {options['lr']}")
        if options.get("weight_decay", 0) < 0:
            raise ValueError(f"{type(self).__name__}: weight_decay must not be negative, got {options['weight_decay']}")

    def zero_grad(self, set_to_none=True):
        """Drops the gradients, or sets them to 0."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    # Whether there is one or not: the first of compiled steps is like the others.
                    p.grad = None
                elif p.grad is not None:
                    p.grad.detach_()
                    p.grad.zero_()

    def step(self, closure=None):
        """Updates the parameters that have a gradient. A closure evaluates the loss again and is run first."""
        if type(self).update is Optimizer.update:
            raise NotImplementedError(f"{type(self).__name__} has neither step() nor update()")
        closure = self._run_hooks_before(closure)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._step()
        self._run_hooks_after(closure)
        return loss

    def _run_hooks_before(self, closure):
        """The closure that the hooks leave."""
        for hook in tuple(self._step_hooks["before"].values()):
            changed = hook(self, (closure,), {})
            if changed is not None:
                (closure, *_), _ = changed
        return closure

    def _run_hooks_after(self, closure):
        for hook in tuple(self._step_hooks["after"].values()):
            hook(self, (closure,), {})

    def register_step_pre_hook(self, hook):
        """hook(optimizer, args, kwargs) at the beginning of step(); what it returns (not None) replaces (args, kwargs)."""
        return register(self._step_hooks["before"], hook)

    def register_step_post_hook(self, hook):
        """hook(optimizer, args, kwargs) at the end of step()."""
        return register(self._step_hooks["after"], hook)

    def _step(self):
        with no_grad():
            self._check_gradients()
            for group in self.param_groups:
                for cell, params in self._in_lockstep(group):
                    cell.advance(1)
                    self.update(group, cell, params, [p.grad for p in params])

    def _check_gradients(self):
        """Before the first parameter or count changes: data may have been replaced since backward."""
        for k, group in enumerate(self.param_groups):
            for i, p in enumerate(group["params"]):
                g = p.grad
                if g is not None and (g.shape != p.shape or g.dtype is not p.dtype):
                    raise RuntimeError(f"{type(self).__name__}.step: parameter {i} of group {k} has shape {list(p.shape)} and dtype "
                                       f"{p.dtype}, its gradient {list(g.shape)} and {g.dtype}")

    def update(self, group, step, params, grads):
        """One step of parameters that have all taken as many steps before."""
        raise NotImplementedError

    def _in_lockstep(self, group):
        """(step cell, parameters with a gradient): those of one cell have taken the same steps. Where only
        some of a cell's parameters have a gradient, these go on with a cell of their own."""
        sharing, going = collections.Counter(), {}
        for p in group["params"]:
            cell = self.state[p].get("step") if p in self.state else None
            sharing[id(cell)] += 1
            if p.grad is not None:
                going.setdefault(id(cell), (cell, []))[1].append(p)
        for key, (cell, params) in going.items():
            if cell is None or len(params) < sharing[key]:
                cell = _C.HostCell(0.0 if cell is None else cell.get(), "step")
                for p in params:
                    self.state[p]["step"] = cell
            yield cell, params

    def slots(self, name, params, make):
        """The state tensors `name` of the parameters, made where they are missing."""
        found = []
        for p in params:
            state = self.state[p]
            if name not in state:
                # Made inside a running recording, every replay would begin with zeros.
                with _C.pause_recording():
                    state[name] = make(p)
            found.append(state[name])
        return found

    # ---- saving
    def shape_of_state(self, p, name):
        """The shape that the state tensor `name` of a parameter has: the parameter's own."""
        return tuple(p.shape)

    def state_dict(self):
        """{'state': {index: {…}}, 'param_groups': […]}: parameters by their index over all groups."""
        order = {id(p): i for i, p in enumerate(p for g in self.param_groups for p in g["params"])}
        state = {}
        for p, entries in self.state.items():
            if id(p) in order:
                state[order[id(p)]] = {k: v.get() if isinstance(v, _C.HostCell) else v for k, v in entries.items()}
        groups = [{**{k: v for k, v in g.items() if k != "params"}, "params": [order[id(p)] for p in g["params"]]}
                  for g in self.param_groups]
        return {"state": state, "param_groups": groups}

    def __getstate__(self):
        """Of a copy or a pickle: all but the hooks, which belong to this object's user."""
        return {**vars(self), "_step_hooks": {"before": {}, "after": {}}}

    def load_state_dict(self, state_dict):
        """Takes over a state, PyTorch's too; every state tensor keeps its own dtype and goes to its parameter's device. Nothing
        changes unless all of it fits."""
        groups, saved = self.param_groups, state_dict["param_groups"]
        if [len(g["params"]) for g in groups] != [len(g["params"]) for g in saved]:
            raise ValueError(f"{type(self).__name__}.load_state_dict: the groups have other numbers of parameters")
        for group, given in zip(groups, saved):
            self.check_options({**group, **given, "params": group["params"]})
        order = {i: p for g, s in zip(groups, saved) for i, p in zip(s["params"], g["params"])}
        state, cells = collections.defaultdict(dict), {}
        for i, entries in state_dict["state"].items():
            if i not in order:
                raise ValueError(f"{type(self).__name__}.load_state_dict: the groups name no parameter {i}")
            p = order[i]
            for name, value in entries.items():
                if name == "step" and type(self).update is not Optimizer.update:
                    # Parameters of one group that have taken as many steps share a cell again.
                    at = next(k for k, g in enumerate(saved) if i in g["params"])
                    value = cells.setdefault((at, float(value)), _C.HostCell(float(value), "step"))
                elif isinstance(value, _C.TensorBase):
                    if value.dim() and tuple(value.shape) != self.shape_of_state(p, name):
                        raise ValueError(f"{type(self).__name__}.load_state_dict: {name} of parameter {i} has shape "
                                         f"{list(value.shape)}, the parameter {list(p.shape)}")
                state[p][name] = _copied(value, p.device)
        for group, given in zip(groups, saved):
            group.update({k: v for k, v in given.items() if k != "params"})
        self.state = state

    def __repr__(self):
        lines = []
        for i, group in enumerate(self.param_groups):
            lines.append(f"group {i}: " + ", ".join(f"{k}={v}" for k, v in group.items() if k != "params"))
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"
