"""What tests ask of the model driver beyond the driver API: fault/model/control.h, by ctypes.

The real driver does not have it; `MODEL` is None then.
"""

from __future__ import annotations

import ctypes
from typing import Any

HostKernel = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)


class LiveObjects(ctypes.Structure):
    """Counts of what the model driver has."""

    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            "user_objects",
            "graphs",
            "executables",
            "streams",
            "events",
            "allocations",
            "libraries",
            "launches_in_flight",
        )
    )

    def counts(self) -> dict[str, int]:
        return {name: getattr(self, name) for name, _ in self._fields_}


class _Control(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32),
        ("register_kernel", ctypes.CFUNCTYPE(None, ctypes.c_char_p, HostKernel)),
        ("set_delivery", ctypes.CFUNCTYPE(None, ctypes.c_uint32)),
        ("set_handle_reuse", ctypes.CFUNCTYPE(None, ctypes.c_uint32)),
        ("release_held", ctypes.CFUNCTYPE(None)),
        ("quiesce", ctypes.CFUNCTYPE(None)),
        ("live", ctypes.CFUNCTYPE(LiveObjects)),
        ("unmodelled", ctypes.CFUNCTYPE(ctypes.c_char_p)),
        ("set_conditional", ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint32)),
    )


def _find() -> Any:
    library = ctypes.CDLL("libcuda.so.1")
    try:
        control = library.holdfast_model_control
    except AttributeError:
        return None
    control.restype = ctypes.POINTER(_Control)
    found = control().contents
    assert found.version == 2
    return found


MODEL = _find()
