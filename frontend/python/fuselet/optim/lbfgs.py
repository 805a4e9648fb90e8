"""L-BFGS (Liu and Nocedal 1989; Nocedal and Wright, Numerical Optimization, 2006: algorithms 7.4 and 7.5)."""

from __future__ import annotations

from .. import _C
from ..grad_mode import enable_grad, no_grad
from .optimizer import Optimizer
from .strong_wolfe import Point, strong_wolfe

_F = _C.functions

# A pair is kept if s·y is above this: the curvature that keeps the approximation positive.
_LEAST_CURVATURE = 1e-10


class LBFGS(Optimizer):
    """A step runs up to max_iter iterations with the closure, which evaluates the loss and its gradients:

        d = -H g       H by the two-loop recursion over the last history_size pairs s = t d, y = change of g,
                       beginning with (s·y / y·y) times the identity; d = -g in the first iteration
        p += t d       t = lr, in the first iteration lr min(1, 1 / sum |g|); with line_search_fn="strong_wolfe"
                       what a search for the strong Wolfe conditions finds from there

    It ends early where max |g| <= tolerance_grad, where p or the loss moves by less than tolerance_change, or after max_eval
    (5 / 4 max_iter) evaluations. All parameters are one vector: there is one group, which a parameter without gradient
    takes part in with 0. An error in the closure leaves the parameters and the state of the last finished iteration. The
    host reads the loss, so that a step is not part of a compiled function (the closure may call one). ValueError for more
    groups or another line_search_fn."""

    def __init__(self, params, lr=1.0, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
                 line_search_fn=None):
        super().__init__(params, dict(lr=lr, max_iter=max_iter, max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
                                      tolerance_grad=tolerance_grad, tolerance_change=tolerance_change, history_size=history_size,
                                      line_search_fn=line_search_fn))

    def add_param_group(self, param_group):
        if self.param_groups:
            raise ValueError("LBFGS: there is one parameter group")
        super().add_param_group(param_group)

    def check_options(self, options):
        super().check_options(options)
        if options["line_search_fn"] not in (None, "strong_wolfe"):
            raise ValueError(f"LBFGS: line_search_fn must be None or 'strong_wolfe', got {options['line_search_fn']!r}")
        if not isinstance(options["history_size"], int) or options["history_size"] < 1:
            raise ValueError(f"LBFGS: history_size must be an int of at least 1, got {options['history_size']}")

    # ---- saving
    def shape_of_state(self, p, name):
        return (sum(q.numel() for q in self.param_groups[0]["params"]),)

    def load_state_dict(self, state_dict):
        """As Optimizer.load_state_dict(). ValueError for a state that lacks what the next iteration needs."""
        state = {i: self._own_names(entries) for i, entries in state_dict["state"].items()}
        super().load_state_dict({**state_dict, "state": state})

    def _own_names(self, entries):
        """The entries of a state; of one of PyTorch the pairs (old_stps, old_dirs, ro) and their scale H_diag by our names."""
        refused, is_of_pytorch = "LBFGS.load_state_dict: the state", "old_dirs" in entries
        wanted = ("d", "t", "prev_flat_grad", *(("old_stps", "old_dirs", "ro", "H_diag") if is_of_pytorch else ("pairs", "scale")))
        missing = [name for name in wanted if name not in entries]
        if missing and (is_of_pytorch or entries.get("n_iter", 0) > 0):
            raise ValueError(f"{refused} has no {', '.join(map(repr, missing))}")
        entries = dict(entries)
        if is_of_pytorch:
            steps, changes, inverses = (entries.pop(name) for name in ("old_stps", "old_dirs", "ro"))
            if not len(steps) == len(changes) == len(inverses):
                raise ValueError(f"{refused} has {len(steps)} old_stps, {len(changes)} old_dirs and {len(inverses)} ro")
            entries.update(pairs=tuple((s, y, float(r)) for s, y, r in zip(steps, changes, inverses)), t=float(entries["t"]),
                           scale=float(entries.pop("H_diag")))
            for name in ("al", "prev_loss"):  # which nothing reads
                entries.pop(name, None)
        size = self.shape_of_state(None, "pairs")
        for s, y, _ in entries.get("pairs", ()):
            if not tuple(s.shape) == tuple(y.shape) == size:
                raise ValueError(f"{refused} has pairs of shapes {list(s.shape)} and {list(y.shape)}, the parameters together {list(size)}")
        return entries

    # ---- all parameters as one vector
    def _gradient(self):
        parts = [_F.zeros([p.numel()], dtype=p.dtype, device=p.device) if p.grad is None else p.grad.detach().reshape(-1)
                 for p in self.param_groups[0]["params"]]
        return _F.cat(parts, 0)

    def _move(self, places, t, d):
        """Every parameter to its place plus t d."""
        begin = 0
        for p, place in zip(self.param_groups[0]["params"], places):
            p.copy_(place + d.narrow(0, begin, p.numel()).view(p.shape) * t)
            begin += p.numel()

    # ---- the step
    def step(self, closure):
        """Runs the iterations; gives the loss of before."""
        closure = self._run_hooks_before(closure)

        def evaluate():
            with enable_grad():
                return closure()

        with no_grad():
            loss = evaluate()
            self._iterate(evaluate, float(loss))
        self._run_hooks_after(closure)
        return loss

    def _iterate(self, evaluate, loss):
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        state["func_evals"], evaluations = state.get("func_evals", 0) + 1, 1
        gradient = self._gradient()
        if gradient.abs().max().item() <= group["tolerance_grad"]:
            return
        for iteration in range(group["max_iter"]):
            is_last = iteration + 1 == group["max_iter"]
            before, kept = loss, dict(state)
            try:
                now, count = self._iteration(evaluate, state, loss, gradient, group, is_last)
            except BaseException:
                state.clear()
                state.update(kept)
                raise
            if now is None:
                return
            loss, gradient = now.loss, now.gradient
            evaluations, state["func_evals"] = evaluations + count, state["func_evals"] + count
            if (is_last or evaluations >= group["max_eval"] or gradient.abs().max().item() <= group["tolerance_grad"]
                    or state["d"].abs().max().item() * now.t <= group["tolerance_change"]
                    or abs(loss - before) < group["tolerance_change"]):
                return

    def _iteration(self, evaluate, state, loss, gradient, group, is_last):
        """As _moved(); (None, 0) where the loss does not fall along the direction."""
        first = state.get("n_iter", 0) == 0
        state["n_iter"] = state.get("n_iter", 0) + 1
        d = self._direction(state, gradient, group["history_size"], first)
        t = group["lr"] * (min(1.0, 1.0 / gradient.abs().sum().item()) if first else 1.0)
        slope = (gradient * d).sum().item()
        state["d"], state["prev_flat_grad"], state["t"] = d, gradient, 0.0
        if slope > -group["tolerance_change"]:
            return None, 0
        now, count = self._moved(evaluate, Point(0.0, loss, slope, gradient), d, t, group, is_last)
        state["t"] = now.t
        return now, count

    def _moved(self, evaluate, before, d, t, group, is_last):
        """(the Point that the parameters have gone to, evaluations). After an error they are where they were."""
        places = [p.detach().clone() for p in group["params"]]
        try:
            return self._search(evaluate, before, places, d, t, group, is_last)
        except BaseException:
            for p, place in zip(group["params"], places):
                p.copy_(place)
            raise

    def _search(self, evaluate, before, places, d, t, group, is_last):
        def at(t):
            self._move(places, t, d)
            loss = float(evaluate())
            gradient = self._gradient()
            return Point(t, loss, (gradient * d).sum().item(), gradient)

        if group["line_search_fn"] is None:
            if not is_last:
                return at(t), 1
            # Nothing asks for the loss there.
            self._move(places, t, d)
            return before._replace(t=t), 0
        narrowest = group["tolerance_change"] / max(d.abs().max().item(), 1e-300)
        now, count = strong_wolfe(at, before, t, narrowest=narrowest)
        self._move(places, now.t, d)
        return now, count

    def _direction(self, state, gradient, most, first):
        """-H gradient, after the pair of the last move has been taken in."""
        if first:
            state["pairs"], state["scale"] = (), 1.0
            return -gradient
        y, s = gradient - state["prev_flat_grad"], state["d"] * state["t"]
        curvature = (y * s).sum().item()
        if curvature > _LEAST_CURVATURE:
            # A new tuple: a state that was saved keeps its own.
            state["pairs"] = (*state["pairs"], (s, y, 1.0 / curvature))[-most:]
            state["scale"] = curvature / (y * y).sum().item()
        d, weights = -gradient, []
        for s, y, inverse in reversed(state["pairs"]):
            weights.append((s * d).sum() * inverse)
            d = d - y * weights[-1]
        d = d * state["scale"]
        for (s, y, inverse), weight in zip(state["pairs"], reversed(weights)):
            d = d + s * (weight - (y * d).sum() * inverse)
        return d
