"""Devices that this library has no backend for, so that programs which ask for them go on."""


class AbsentBackend:
    """A kind of device that is never available."""

    def __init__(self, name):
        self._name = name

    def is_available(self):
        """False: there is no such backend."""
        return False

    is_built = is_available

    def device_count(self):
        """0: there is no such backend."""
        return 0

    def __repr__(self):
        return f"<no backend for {self._name}>"


mps, xpu, npu, mkldnn = (AbsentBackend(name) for name in ("mps", "xpu", "npu", "mkldnn"))
