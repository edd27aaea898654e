"""What the extension module beside it was built against."""

from interpreter_probe._core import FREE_THREADED, PYBIND11_HEX, VERSION_HEX, pending_call_file

__all__ = ["FREE_THREADED", "PYBIND11_HEX", "VERSION_HEX", "pending_call_file"]
