"""Recordings: a function of tensors as a graph that prints, verifies and replays bit for bit."""

from __future__ import annotations

import typing

from . import _C
from .tensor_class import Tensor

Graph, GraphNode, HostCell = _C.Graph, _C.GraphNode, _C.HostCell
# What a report consists of.
CompileReport, StageReport, KernelReport, RefusedFusion, Drawing = (_C.CompileReport, _C.StageReport, _C.KernelReport,
                                                                    _C.RefusedFusion, _C.Drawing)


def is_compiling():
    """Whether the code of a compiled function is running on this thread."""
    return _C._is_compiling()


is_dynamo_compiling = is_compiling


class RecordedFunction:
    """What record() returns; call it with tensors of the recorded shapes and dtypes.

    A call runs the graph operator by operator with the kernels of eager mode. It reads parameters, host
    cells (learning rates, betas) and the default generator as they are then, and writes what the function
    wrote: parameters, gradients, optimizer state. It returns what the function returned, in the same form.
    RuntimeError for arguments of another number, shape or dtype; nothing has been written then.
    """

    def __init__(self, recorded, pack):
        self._recorded, self._pack = recorded, pack
        self.graph = recorded.graph

    def __call__(self, *args):
        return self._pack(self._recorded.run(_tensors(args, "a recorded function", "argument")))

    @property
    def first_outputs(self):
        """What the function returned when it was recorded."""
        return self._pack(self._recorded.first_outputs)

    def __repr__(self):
        g = self.graph
        return (f"<RecordedFunction '{g.name}': {len(g.nodes)} nodes, {len(g.inputs)} inputs, {len(g.cells)} cells, "
                f"{g.draws} draws>")


def record(fn, args=(), names=None):
    """Runs fn(*args) once as eager code would and returns it as a RecordedFunction.

    fn returns a Tensor, a list or tuple of Tensors, or None. It may call backward(), clip gradients, step an
    optimizer and write in place; all of it becomes one functional graph. Tensors that fn meets besides its
    arguments become inputs of the graph; `names` (a Module, or a dict from name to Tensor) says how these are
    called in the text. The path that fn took is recorded: other Python state is read once.

    An exception in fn passes through and leaves parameters, gradients and the generator as they were;
    asking for a value inside (item(), bool(), numpy()) is a RuntimeError; printing shows the shape alone.
    """
    pack = tuple

    def body(*given):
        nonlocal pack
        result = fn(*given)
        if result is None:
            pack = _nothing
            return []
        if isinstance(result, Tensor):
            pack = _single
            return [result]
        pack = list if isinstance(result, list) else tuple
        return _tensors(result, "record: the function", "result")

    if names is None:
        named = []
    else:
        named = list(names.items() if isinstance(names, dict) else names.state_dict(keep_vars=True).items())
    recorded = _C.record(body, _tensors(args, "record", "argument"), getattr(fn, "__name__", "graph"), named)
    return RecordedFunction(recorded, pack)


def parse(text):
    """The Graph of a text that str(graph) has printed; RuntimeError with the line where it cannot be read."""
    return _C.parse_graph(text)


def _nothing(tensors):
    return None


def _single(tensors):
    return tensors[0]


def _tensors(values, owner, what):
    if isinstance(values, Tensor) or not isinstance(values, (tuple, list)):
        raise TypeError(f"{owner}: expected a tuple or list of Tensors as {what}s, got {type(values).__name__}")
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise TypeError(f"{owner}: {what} {i} is a {type(value).__name__}, not a Tensor")
    return list(values)


class Compilation(typing.NamedTuple):
    """Why a call needed code that had not been compiled yet, the line that brought it up, and what it took."""

    reason: str
    line: str
    milliseconds: float


class Stats(typing.NamedTuple):
    """How the calls of a compiled function were served."""

    compiled: int
    graph_replayed: int
    segmented: int
    eager: int
    compilations: list

    @property
    def compiles(self):
        """How many programs have been compiled."""
        return len(self.compilations)

    @property
    def recompiles(self):
        """The compilations after the first."""
        return self.compilations[1:]

    def __str__(self):
        served = f"{self.compiled} compiled calls, {self.eager} eager, {self.compiles} compilations"
        return "".join([served] + [f"\n  {c.reason}{' at ' + c.line if c.line else ''}, {c.milliseconds:.0f} ms"
                                   for c in self.compilations])


def stats(compiled):
    """The Stats of what fuselet.compile() has returned."""
    *calls, compilations = _handle_of(compiled).ledger()
    return Stats(*calls, [Compilation(*c) for c in compilations])


def reports(compiled):
    """A CompileReport for each compilation of what fuselet.compile() has returned, oldest first."""
    return _handle_of(compiled).reports()


def report(compiled):
    """The CompileReport of the latest compilation: str() sums it up; stages, kernels, refused and draw() show it all.

    RuntimeError before the first call.
    """
    all_of_them = reports(compiled)
    if not all_of_them:
        raise RuntimeError("report: the compiled function has not been called yet")
    return all_of_them[-1]


def _handle_of(compiled):
    made = getattr(type(compiled), "_compiled", compiled)
    handle = getattr(made, "_handle", None)
    if handle is None:
        raise TypeError(f"expected what fuselet.compile() returned, got {type(compiled).__name__}")
    return handle
