"""Worker processes of a loader.

Each has a pipe of its own: tasks go down it, results come back, in order. A thread of the worker takes tasks from the pipe at
once, so neither side ever waits for the other to read. A worker ends when it is told to, when its pipe closes, or when its
parent is gone. Inside, operators use one thread. An error travels as its class and traceback.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import multiprocessing.connection
import os
import pickle
import queue
import random
import threading
import time
import traceback
import typing
from multiprocessing.reduction import ForkingPickler

_SECONDS_TO_END = 5.0
_SECONDS_BETWEEN_LOOKS = 1.0  # how soon a worker notices that its parent is gone

_current = None


@dataclasses.dataclass(frozen=True)
class WorkerInfo:
    """Which worker runs: its number of how many, its seed, its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: typing.Any


def get_worker_info():
    """The WorkerInfo of the worker process that calls; None in any other process."""
    return _current


class Failure:
    """An exception on its way to another process."""

    def __init__(self, error, where):
        self.kind = type(error)
        self.text = f"{where}\n" + "".join(traceback.format_exception(error))

    def dumped(self):
        """As bytes; a class that cannot be pickled becomes RuntimeError."""
        try:
            return ForkingPickler.dumps(self)
        except Exception:
            self.kind = RuntimeError
            return ForkingPickler.dumps(self)

    def throw(self):
        try:
            error = self.kind(_Text(self.text) if issubclass(self.kind, KeyError) else self.text)
        except Exception:
            error = RuntimeError(self.text)
        raise error


class _Text(str):
    """KeyError shows the repr of its argument; this one shows as it is."""

    def __repr__(self):
        return str(self)


class Exhausted:
    """In the place of a batch: the worker's copy of an iterable dataset has ended."""


def _work(number, count, dataset, make_fetcher, connection, others, init, parent):
    global _current
    for other in others:  # inherited ends of earlier workers' pipes
        other.close()
    from ... import _C

    _C.set_num_threads(1)
    _C.set_default_device(None)
    tasks = queue.SimpleQueue()
    threading.Thread(target=_take_tasks, args=(connection, tasks, parent), daemon=True).start()
    fetch = None
    while (task := tasks.get()) is not None:
        try:
            if isinstance(task, int):  # the seed of an epoch that begins
                _seed(task + number)
                _current = WorkerInfo(number, count, task + number, dataset)
                if init is not None and fetch is None:
                    init(number)
                fetch = make_fetcher(dataset)
                continue
            if fetch is None:
                continue
            data = ForkingPickler.dumps(fetch(task[0]))
        except StopIteration:
            data = ForkingPickler.dumps(Exhausted())
        except Exception as error:
            failure = Failure(error, f"Caught {type(error).__name__} in DataLoader worker process {number}.")
            if isinstance(task, int):
                fetch = _failing(failure)
                continue
            data = failure.dumped()
        try:
            connection.send_bytes(data)
        except (BrokenPipeError, ConnectionResetError):
            return


def _failing(failure):
    """A fetcher that fails as the beginning of the epoch has failed."""

    def fetch(task):
        failure.throw()

    return fetch


def _take_tasks(connection, tasks, parent):
    try:
        while True:
            while not connection.poll(_SECONDS_BETWEEN_LOOKS):
                if os.getppid() != parent:
                    os._exit(1)
            task = connection.recv()
            tasks.put(task)
            if task is None:
                return
    except (EOFError, OSError):
        tasks.put(None)


def _seed(seed):
    from ... import manual_seed

    random.seed(seed)
    manual_seed(seed % (1 << 63))
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(seed % (1 << 32))


class WorkerPool:
    """Worker processes and their pipes; give() a task, take() its result, in the order of tasks a worker."""

    def __init__(self, count, dataset, make_fetcher, init, context, timeout):
        self._timeout, self._closed = timeout, False
        self.busy = False  # an iterator takes its batches
        self.waiting = [0] * count  # results a worker owes
        self._processes, self._pipes = [], []
        context = multiprocessing.get_context(context or "fork") if not hasattr(context, "Process") else context
        try:
            for number in range(count):
                here, there = context.Pipe()
                others = [*self._pipes, here] if context.get_start_method() == "fork" else []
                process = context.Process(target=_work, daemon=True, name=f"loader-{number}", args=(
                    number, count, dataset, make_fetcher, there, others, init, os.getpid()))
                process.start()
                there.close()
                self._processes.append(process)
                self._pipes.append(here)
        except BaseException:
            self.close()
            raise

    def __len__(self):
        return len(self._processes)

    def begin(self, seed):
        """A new epoch; what is still owed from one that was left is thrown away."""
        for worker, owed in enumerate(self.waiting):
            for _ in range(owed):
                self._receive(worker)
        for worker in range(len(self)):
            self._send(worker, seed)

    def give(self, worker, task):
        self._send(worker, (task,))
        self.waiting[worker] += 1

    def take(self, worker):
        """The result of the oldest task that the worker owes; raises what the worker has raised."""
        result = self._receive(worker)
        if isinstance(result, Failure):
            result.throw()
        return result

    def _send(self, worker, message):
        try:
            self._pipes[worker].send(message)
        except (BrokenPipeError, ConnectionResetError):
            self._has_died(worker)

    def _receive(self, worker):
        pipe, process = self._pipes[worker], self._processes[worker]
        ready = multiprocessing.connection.wait([pipe, process.sentinel], self._timeout or None)
        if not ready:
            raise RuntimeError(f"DataLoader: worker {worker} (pid {process.pid}) gave no batch within the timeout of {self._timeout} s")
        try:
            # What a worker sent before it ended is still in the pipe.
            data = pipe.recv_bytes() if pipe.poll(0) else None
        except (EOFError, ConnectionResetError):
            data = None
        if data is None:
            self._has_died(worker)
        self.waiting[worker] -= 1
        return pickle.loads(data)

    def _has_died(self, worker):
        process = self._processes[worker]
        process.join(_SECONDS_TO_END)
        raise RuntimeError(f"DataLoader: worker {worker} (pid {process.pid}) exited unexpectedly with code {process.exitcode}")

    def close(self):
        """Ends the workers and waits for them; terminates those that do not end."""
        if self._closed:
            return
        self._closed = True
        for pipe in self._pipes:
            try:
                pipe.send(None)
            except (OSError, ValueError):
                pass
        for pipe in self._pipes:
            pipe.close()  # a worker that is sending then ends too
        until = time.monotonic() + _SECONDS_TO_END
        for process in self._processes:
            process.join(max(0.0, until - time.monotonic()))
            if process.is_alive():
                process.terminate()
                process.join()
            process.close()

    def __del__(self):
        try:
            self.close()
        except Exception:  # at interpreter exit, when modules are gone
            pass
