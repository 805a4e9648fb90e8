"""Streams and events: what runs after what on a device.

Work of one stream runs in order; work of two streams in any order unless one waits for the other. Memory of a tensor
belongs to the stream that was current when the tensor was made: a tensor used on another stream must be kept until that
work is done, or named to it by Tensor.record_stream.
"""

from __future__ import annotations

from .. import _C
from . import devices


class Stream(_C.cuda.StreamBase):
    """A stream of its own on a device (the current one by default). The argument priority is accepted and unused."""

    def __init__(self, device=None, priority=0):
        if isinstance(device, _C.cuda.StreamBase):
            super().__init__(device)
        else:
            super().__init__(devices.index_of(device))

    @property
    def device(self):
        return _C.device("cuda", self.device_index)

    def wait_stream(self, stream):
        """Work given to this stream later starts after what `stream` has been given until now."""
        self._wait_stream(stream)

    def wait_event(self, event):
        """Work given to this stream later starts after the event."""
        self._wait_event(event)

    def record_event(self, event=None):
        """Marks what has been given until now, in a new event or the given one; returns it."""
        event = Event() if event is None else event
        self._record_event(event)
        return event

    def __eq__(self, other):
        return isinstance(other, _C.cuda.StreamBase) and self.stream_id == other.stream_id

    def __hash__(self):
        return hash(self.stream_id)

    def __repr__(self):
        return f"<fuselet.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Event(_C.cuda.EventBase):
    """A point in the work of a stream. With enable_timing, elapsed_time() gives the milliseconds between two.

    The arguments blocking and interprocess are accepted; the first changes nothing, the second is an error."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        if interprocess:
            raise NotImplementedError("Event: events between processes are not supported")
        super().__init__(enable_timing)

    def record(self, stream=None):
        """Marks what the stream (the current one by default) has been given until now."""
        self._record(current_stream() if stream is None else stream)

    def wait(self, stream=None):
        """Work given to the stream (the current one by default) later starts after this event."""
        self._wait(current_stream() if stream is None else stream)

    def __repr__(self):
        return f"<fuselet.cuda.Event {self.cuda_event:#x}>"


def current_stream(device=None):
    """The stream on which this thread's operators on the device run."""
    return Stream(_C.cuda.current_stream(devices.index_of(device)))


def default_stream(device=None):
    """The device's own stream, which is current where no other has been made so."""
    return Stream(_C.cuda.default_stream(devices.index_of(device)))


def set_stream(stream):
    """Makes a stream current for this thread and the stream's device; None changes nothing."""
    if stream is not None:
        _C.cuda.set_stream(stream)


class stream:
    """Makes a stream and its device current within a `with` block; None changes nothing."""

    def __init__(self, stream):
        self.stream = stream
        self._saved = []

    def __enter__(self):
        if self.stream is not None:
            index = self.stream.device_index
            self._saved.append((devices.current_device(), current_stream(index)))
            set_stream(self.stream)
            devices.set_device(index)
        return self

    def __exit__(self, *exception):
        if self.stream is not None:
            device, before = self._saved.pop()
            set_stream(before)
            devices.set_device(device)


def sleep(cycles):
    """Keeps the current stream busy for about that many cycles of the device's clock; for tests."""
    _C.cuda.sleep(cycles)
